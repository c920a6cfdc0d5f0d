import { isRightToLeft } from '../model/direction.ts';

/** An element of the page. Texts become text nodes, never markup. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  className: string,
  ...content: readonly (string | Node)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  if (className !== '') made.className = className;
  made.append(...content);
  return made;
}

/** An element with a name, which is cut at its end if there is too little room: at the left if it is written from right to left. */
export function named<Tag extends keyof HTMLElementTagNameMap>(tag: Tag, className: string, name: string): HTMLElementTagNameMap[Tag] {
  const made = element(tag, className, name);
  made.dir = isRightToLeft(name) ? 'rtl' : 'ltr';
  return made;
}

/** A button that does something. */
export function button(label: string | Node, title: string, onClick: () => void): HTMLButtonElement {
  const made = element('button', '', label);
  made.type = 'button';
  if (title !== '') made.title = title;
  made.addEventListener('click', onClick);
  return made;
}

/** The element of page.html with an id. */
export function byId<Type extends HTMLElement = HTMLElement>(id: string): Type {
  return document.getElementById(id) as Type;
}

/** Replaces what is in an element. If the focus was in there, it goes to one of the new parts instead of getting lost. */
export function replaceContent(target: HTMLElement, content: readonly HTMLElement[], heir: HTMLElement | undefined): void {
  const hadFocus = target.contains(document.activeElement);
  target.replaceChildren(...content);
  if (hadFocus) heir?.focus();
}

/** Calls a function at most once a frame, after the last of several requests. */
export function oncePerFrame(run: () => void): () => void {
  let isPending = false;
  return () => {
    if (isPending) return;
    isPending = true;
    requestAnimationFrame(() => {
      isPending = false;
      run();
    });
  };
}
