import { useState } from 'react';
import { Select } from '../../../ui/form/Select.tsx';
import { SELECT_SIZES } from '../../../ui/kitConstants.ts';
import { ModeSearchBox, type SearchMode } from '../../../ui/ModeSearchBox.tsx';
import { SearchBox } from '../../../ui/SearchBox.tsx';
import { Specimen, Specimens } from '../Specimen.tsx';
import { Value } from '../Value.tsx';

const EIGHT = Array.from({ length: 8 }, (_, index) => `Option ${index + 1}`);
const NINE = [...EIGHT, 'Option 9'];
const MANY = Array.from({ length: 1200 }, (_, index) => ({ id: index + 1, title: `Server ${index + 1}` }));
const SERVERS = [
  { id: 11, title: 'training', group: 'Rented', description: '8 CPUs free' },
  { id: 12, title: 'inference', group: 'Rented', disabled: true, description: 'stopped' },
  { id: 13, title: 'closet', group: 'Self-hosted', description: '4 CPUs free' },
];

/** Milliseconds between the two signals that came closest upon each other. */
function shortestGap(times: readonly number[]): number | null {
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  return gaps.length === 0 ? null : Math.round(Math.min(...gaps));
}

/** Select and search box. */
export default function SelectSection() {
  const [eight, setEight] = useState<string | null>(null);
  const [nine, setNine] = useState<string | null>('Option 3');
  const [several, setSeveral] = useState<string[]>(['Option 2', 'Option 4', 'Option 7']);
  const [server, setServer] = useState<number | null>(11);
  const [one, setOne] = useState<number | null>(null);
  const [pages, setPages] = useState(1);
  const [paged, setPaged] = useState<string | null>(null);
  const [ends, setEnds] = useState<number[]>([]);
  const [mode, setMode] = useState<SearchMode>('contains');
  const [search, setSearch] = useState('');
  const [lines, setLines] = useState('');
  return (
    <Specimens>
      <Specimen id="select-eight" title="Eight plain values: no search">
        <Select label="Few" options={EIGHT} value={eight} onChange={setEight} w={240} />
      </Specimen>
      <Specimen id="select-nine" title="Nine: with search, may be empty">
        <Select label="Several to search" options={NINE} value={nine} onChange={setNine} mayBeEmpty w={240} />
      </Specimen>
      <Specimen id="select-multiple" title="Several values: one tag and the number of the others">
        <Select label="Multiple" multiple options={NINE} value={several} onChange={setSeveral} w={240} />
        <Select
          label="Multiple, two tags"
          multiple
          tagLimit={2}
          options={NINE}
          value={several}
          onChange={setSeveral}
          w={240}
        />
      </Specimen>
      <Specimen id="select-objects" title="Objects by label and key field, in groups">
        <Select
          label="Server"
          options={SERVERS}
          labelField="title"
          keyField="id"
          value={server}
          onChange={setServer}
          w={240}
        />
        <Value id="select-objects-value" of={server} />
      </Specimen>
      <Specimen id="select-thousand" title="More than a thousand options">
        <Select label="Many" options={MANY} labelField="title" keyField="id" value={one} onChange={setOne} w={240} />
      </Specimen>
      <Specimen id="select-end" title="More at the end of the list">
        <Select
          label="Endless"
          options={Array.from({ length: pages * 20 }, (_, index) => `Line ${index + 1}`)}
          value={paged}
          onChange={setPaged}
          onEnd={() => {
            // When it was told, not when that is drawn.
            const at = performance.now();
            setEnds((times) => [...times, at]);
            setPages((count) => Math.min(5, count + 1));
          }}
          w={240}
        />
        <Value id="select-ends" of={ends.length} />
        <Value id="select-gap" of={shortestGap(ends)} />
      </Specimen>
      <Specimen id="select-sizes" title="Sizes">
        {SELECT_SIZES.map((size) => (
          <Select
            key={size}
            aria-label={`Size ${size}`}
            size={size}
            options={EIGHT}
            value={eight ?? 'Option 1'}
            onChange={setEight}
            w={120}
          />
        ))}
      </Specimen>
      <Specimen id="select-states" title="States">
        <Select label="Empty" options={[]} value={null} onChange={() => undefined} w={240} />
        <Select
          label="Wrong"
          options={EIGHT}
          value={null}
          onChange={() => undefined}
          error="Please choose an option"
          w={240}
        />
        <Select label="Off" options={EIGHT} value="Option 1" onChange={() => undefined} disabled w={240} />
      </Specimen>
      <Specimen id="select-found" title="Found elsewhere by what is typed; “slow” is never answered">
        <FoundElsewhere />
      </Specimen>
      <Specimen id="search" title="Search box">
        <SearchBox value={search} onChange={setSearch} placeholder="Search servers" />
        <Value id="search-value" of={search} />
      </Specimen>
      <Specimen id="search-modes" title="Search box with mode" wide>
        <ModeSearchBox value={lines} onChange={setLines} mode={mode} onMode={setMode} />
      </Specimen>
    </Specimens>
  );
}

const CITIES = ['Berlin', 'Lima', 'Lisbon', 'Oslo'].map((label, index) => ({ label, value: index + 1 }));

function FoundElsewhere() {
  const [city, setCity] = useState<number | null>(null);
  const [search, setSearch] = useState('');
  const [asked, setAsked] = useState('');
  return (
    <Select
      label="City"
      options={CITIES.filter(({ label }) => label.toLowerCase().startsWith(asked.toLowerCase()))}
      value={city}
      onChange={setCity}
      mayBeEmpty
      found={{
        search,
        onSearch: (text) => {
          setSearch(text);
          if (text !== 'slow') setAsked(text);
        },
        hint: 'The beginning of its name',
        stale: search !== asked,
        chosenLabel: CITIES.find(({ value }) => value === city)?.label,
      }}
      w={240}
    />
  );
}
