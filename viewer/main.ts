import { loadData } from './load.ts';
import { readRecording } from './model/recording.ts';
import { Address } from './view/address.ts';
import { Controls } from './view/controls.ts';
import { Divider } from './view/divider.ts';
import { byId } from './view/dom.ts';
import { GraphView } from './view/graph-view.ts';
import { NeighborsView } from './view/neighbors-view.ts';
import { PathView } from './view/path-view.ts';
import { Saving } from './view/saving.ts';
import { State } from './view/state.ts';
import { TableView } from './view/table-view.ts';

async function main(): Promise<void> {
  const data = byId('data');
  const state = new State(readRecording(await loadData(data.textContent ?? '')));
  data.remove();
  const graph = new GraphView(state);
  new PathView(state).render();
  new TableView(state, graph.colors).update();
  new NeighborsView(state).render();
  new Controls(state, graph.colors).render();
  new Divider('divider', { before: '--upper', after: '--lower' });
  new Divider('side-divider', { before: '--left', after: '--right' });
  new Saving(state, graph.colors).render();
  new Address(state);
  document.body.dataset.ready = 'true';
}

main().catch((error: unknown) => {
  const problem = byId('problem');
  problem.textContent = `The profile cannot be shown: ${error instanceof Error ? error.message : String(error)}`;
  problem.hidden = false;
});
