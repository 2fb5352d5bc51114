import type { JournalRequest, NodeAnswer } from '../src/messages/journal';
import { nodeIndexes } from '../src/messages/nodes';
import { askEach } from './ask-nodes';

/** What the nodes have on record about one transaction. */
export const readJournals = (request: JournalRequest): Promise<NodeAnswer[]> =>
  askEach(nodeIndexes, (node) => node.readJournal(request));
