import type { JournalRequest, NodeAnswer } from '../src/messages/journal';
import { askEveryNode } from './ask-nodes';

/** What the nodes have on record about one transaction. */
export const readJournals = (request: JournalRequest): Promise<NodeAnswer[]> => askEveryNode((node) => node.journalOf(request));
