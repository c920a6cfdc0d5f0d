/** Drivers of the real viewers, in a headless Chromium. */
export { findChromium, hasNoChromium, type ViewerOptions } from './chromium-page.ts';
export { type DevToolsTrack, type DevToolsView, loadInDevTools, type TreeRow } from './devtools-page.ts';
export { loadInSpeedscope, type SpeedscopeFrame, type SpeedscopeProfile, type SpeedscopeView } from './speedscope-page.ts';
