import { messageOf } from '../../src/base/problems/errors.ts';
import { unpacked } from '../load.ts';
import { byId } from '../view/dom.ts';
import { Conversion } from './conversion.ts';
import { droppedFiles, pickedFiles } from './dropped-files.ts';
import type { ChosenFile } from './messages.ts';

async function main(): Promise<void> {
  const script = byId('worker');
  const conversion = new Conversion(await unpacked(script.textContent ?? '').text());
  script.remove();
  const add = (files: Promise<readonly ChosenFile[]>): void => {
    files.then((chosen) => conversion.add(chosen)).catch((error: unknown) => conversion.fail(messageOf(error)));
  };

  for (const [input, ...buttons] of [
    [byId<HTMLInputElement>('input'), 'choose', 'chooseHere'],
    [byId<HTMLInputElement>('folderInput'), 'chooseFolder'],
  ] as const) {
    for (const button of buttons) byId(button).addEventListener('click', () => input.click());
    input.addEventListener('change', () => {
      add(Promise.resolve(pickedFiles(input.files ?? new DataTransfer().files)));
      // So that the same files may be chosen again.
      input.value = '';
    });
  }
  // The frame is a large target for those who point; but its text can be selected. The buttons are for all.
  byId('drop').addEventListener('click', ({ currentTarget, target }) => {
    if (target === currentTarget && getSelection()?.isCollapsed !== false) byId('input').click();
  });
  byId('restart').addEventListener('click', () => location.reload());
  takeDrops(window, add);
  const view = byId<HTMLIFrameElement>('view');
  view.addEventListener('load', () => {
    if (view.contentWindow === null) return;
    takeDrops(view.contentWindow, add);
    // The keys that the graph knows work at once, unless the user is doing something else meanwhile.
    if (document.activeElement?.matches('body, #choose, #chooseFolder')) view.contentWindow.focus();
  });
  document.body.dataset.ready = 'true';
}

/** Takes files that are dropped anywhere in a window. */
function takeDrops(target: Window, add: (files: Promise<readonly ChosenFile[]>) => void): void {
  target.addEventListener('dragover', (event) => {
    event.preventDefault();
    document.body.classList.add('dragging');
  });
  target.addEventListener('dragleave', () => document.body.classList.remove('dragging'));
  target.addEventListener('drop', (event) => {
    event.preventDefault();
    document.body.classList.remove('dragging');
    if (event.dataTransfer !== null) add(droppedFiles(event.dataTransfer));
  });
}

main().catch((error: unknown) => {
  const problem = byId('problem');
  problem.textContent = `This page does not work in this browser, which may be too old: ${messageOf(error)}`;
  problem.hidden = false;
});
