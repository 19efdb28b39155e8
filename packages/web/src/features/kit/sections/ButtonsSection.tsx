import { IconArrowRight, IconCopy, IconDots, IconPlus, IconTrash } from '@tabler/icons-react';
import { Button } from '../../../ui/Button.tsx';
import { IconButton } from '../../../ui/IconButton.tsx';
import { BUTTON_COLORS, BUTTON_SIZES, LOADER_SIZES, TAG_COLORS } from '../../../ui/kitConstants.ts';
import { Loader } from '../../../ui/Loader.tsx';
import { Tag } from '../../../ui/Tag.tsx';
import { Specimen, Specimens } from '../Specimen.tsx';

const nothing = () => undefined;

/** Buttons in every colour, size and state; tags; loaders. */
export default function ButtonsSection() {
  return (
    <Specimens>
      <Specimen id="button-colors" title="Colours">
        {BUTTON_COLORS.map((color) => (
          <Button key={color} color={color}>
            {color}
          </Button>
        ))}
      </Specimen>
      <Specimen id="button-soft" title="Soft">
        {BUTTON_COLORS.map((color) => (
          <Button key={color} color={color} look="soft">
            {color}
          </Button>
        ))}
      </Specimen>
      <Specimen id="button-quiet" title="Quiet">
        {BUTTON_COLORS.map((color) => (
          <Button key={color} color={color} look="quiet">
            {color}
          </Button>
        ))}
      </Specimen>
      <Specimen id="button-sizes" title="Sizes">
        {BUTTON_SIZES.map((size) => (
          <Button key={size} size={size}>
            Size {size}
          </Button>
        ))}
      </Specimen>
      <Specimen id="button-loading" title="Loading">
        {BUTTON_SIZES.map((size) => (
          <Button key={size} size={size} loading>
            Size {size}
          </Button>
        ))}
        {BUTTON_COLORS.map((color) => (
          <Button key={color} color={color} loading>
            {color}
          </Button>
        ))}
      </Specimen>
      <Specimen id="button-disabled" title="Disabled, and disabled with the reason">
        <Button disabled>Disabled</Button>
        <Button color="gray" disabled>
          Disabled
        </Button>
        <Button reason="The server is stopped">Restart</Button>
        <Button color="danger" look="soft" reason="It is being deleted already">
          Delete
        </Button>
        <Button look="quiet" disabled>
          Disabled
        </Button>
      </Specimen>
      <Specimen id="button-icons" title="With icons">
        <Button icon={<IconPlus size={16} />}>Add SSH key</Button>
        <Button color="gray" end={<IconArrowRight size={16} />}>
          Next step
        </Button>
        <Button color="danger" look="soft" size="xs" icon={<IconTrash size={14} />}>
          Delete
        </Button>
      </Specimen>
      <Specimen id="button-link" title="A link that looks like a button; a long label">
        <Button component="a" href="#button-link" color="gray">
          Open the server
        </Button>
        <Button color="gray">A label that is much longer than the place that there is for it on a narrow screen</Button>
        <Button fullWidth>Across the whole width</Button>
      </Specimen>
      <Specimen id="icon-buttons" title="Icons alone">
        {BUTTON_SIZES.map((size) => (
          <IconButton key={size} label={`Copy, size ${size}`} size={size}>
            <IconCopy size={16} />
          </IconButton>
        ))}
        <IconButton label="Delete" color="danger">
          <IconTrash size={16} />
        </IconButton>
        <IconButton label="Actions" reason="Nothing can be done now">
          <IconDots size={16} />
        </IconButton>
      </Specimen>
      <Specimen id="tags" title="Tags">
        {TAG_COLORS.map((color) => (
          <Tag key={color} color={color}>
            {color}
          </Tag>
        ))}
        {TAG_COLORS.map((color) => (
          <Tag key={color} color={color} onRemove={nothing} removeLabel={`Remove ${color}`}>
            {color}
          </Tag>
        ))}
        <Tag>A tag with more words than there is room for beside the others</Tag>
      </Specimen>
      <Specimen id="loaders" title="Loaders">
        {LOADER_SIZES.map((size) => (
          <Loader key={size} size={size} label={`Loading, size ${size}`} />
        ))}
      </Specimen>
    </Specimens>
  );
}
