import { Specimen, Specimens } from '../Specimen.tsx';

const SIZES = [12, 13, 14, 16, 20, 28, 40];

/** The scale of type and the two families. */
export default function TypeSection() {
  return (
    <Specimens>
      <Specimen id="type-scale" title="Scale" wide>
        <div>
          {SIZES.map((size) => (
            <p key={size} style={{ fontSize: size, lineHeight: 1.4, margin: 0 }}>
              {size} Rent a server by the hour
            </p>
          ))}
        </div>
      </Specimen>
      <Specimen id="type-mono" title="Monospace, for ids, addresses, logs and figures">
        <code style={{ fontFamily: 'var(--mono)' }}>gpu-box-1 · 10.0.0.12 · 1,024.50</code>
      </Specimen>
    </Specimens>
  );
}
