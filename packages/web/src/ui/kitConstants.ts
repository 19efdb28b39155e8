/** The numbers and words of the kit that the specification fixes in section 9, written once. */

export const DEFAULT_START_TIME = '00:00';
export const DEFAULT_END_TIME = '23:59';
export const DATE_MASK = '##/##/####';
export const TIME_MASK = '##:##';

export const FILE_MAX_SIZE = 5;
export const FILE_ACCEPT = ['image/png', 'image/jpeg'] as const;
export const FILE_FIELD_NAME = 'imageUploads';
export const FILE_MAX_COUNT = Number.POSITIVE_INFINITY;

/** A select with more options than this has a search box. */
export const SELECT_SEARCH_ABOVE = 8;
export const SELECT_TAG_LIMIT = 1;
export const SELECT_END_THROTTLE_MS = 500;
export const SELECT_SIZES = ['xs', 's', 'm', 'l'] as const;
export const SELECT_OPTION_LIMIT = 1000;
export const SELECT_MAX_HEIGHT_PX = 300;

export const INPUT_SIZES = ['xxxs', 'xxs', 'xs', 's', 'm'] as const;
export const NUMBER_STEP = 1;
export const SEARCH_MODE_WIDTHS_PX = [203, 260] as const;

export const SLIDER_MIN = 0;
export const SLIDER_MAX = 100;
export const SLIDER_STEP = 1;
export const SLIDER_SIZES = ['xs', 's'] as const;
export const SLIDER_SIZE: (typeof SLIDER_SIZES)[number] = 's';
export const SLIDER_COLORS = ['primary', 'secondary'] as const;
export const SLIDER_BOX_MIN = 0;
export const SLIDER_BOX_MAX = 9999;

export const TEXTAREA_COLORS = ['primary', 'secondary', 'dark'] as const;
export const TEXTAREA_COLOR: (typeof TEXTAREA_COLORS)[number] = 'primary';
export const TEXTAREA_SIZES = ['xs', 's'] as const;
export const TEXTAREA_SIZE: (typeof TEXTAREA_SIZES)[number] = 'xs';

export const DIALOG_SIZES = ['xs', 's', 'm'] as const;
export const DIALOG_SIZE: (typeof DIALOG_SIZES)[number] = 's';
export const BUTTON_COLORS = ['primary', 'gray', 'danger', 'promo', 'stripe', 'white', 'black'] as const;
export const BUTTON_SIZES = ['xxxs', 'xxs', 'xs', 's', 'm', 'l'] as const;
export const LOADER_SIZES = ['xs', 's', 'm', 'l'] as const;
export const TAG_COLORS = ['primary', 'gray'] as const;
export const HEADING_LEVELS = [1, 2, 3, 4, 5, 6] as const;

export const TOOLTIP_DELAY_MS = 200;
export const MENU_HIDE_DELAY_MS = 400;
export const POPUP_OFFSET_PX = 5;
export const PROFILE_POPUP_OFFSET_PX = 14;
export const POPUP_DISPOSE_MS = 150;

export const TOAST_MS = 5000;
export const TOAST_LIMIT = 20;

export { FEEDBACK_MAX_IMAGE_MB, FEEDBACK_MAX_IMAGES } from '@stagi/contract/uploadLimits.ts';
export const FEEDBACK_ROWS = 4;

export const HEADER_HIDES_AT_PX = 100;
export const SCROLL_DEBOUNCE_MS = 500;
export const NEAR_BOTTOM_PX = 10;
