import type { Logger } from '../platform/logging';
import type { Admission } from './admission';
import { BanSender } from './ban-sender';
import { Bans } from './bans';
import type { Identity } from './identity';
import { Journal } from './journal';
import { JournalGuard } from './journal-guard';
import { JournalMark } from './journal-mark';
import { JournalReader } from './journal-reader';
import type { NodeLimits } from './limits';
import { NodeAdmission } from './node-admission';
import { type PeerArchive, PeerCopies } from './peer-copies';
import { PolicyRefusalLog } from './policy-refusal-log';
import type { ShareStore } from './store';
import { readOwnCopies } from './own-copies';
import type { TransportClient } from './transport-client';

export interface RecordsOptions {
  identity: Identity;
  store: ShareStore;
  client: Pick<TransportClient, 'copies' | 'ban'>;
  /** Path of the journal mark. */
  mark: string;
  limits: NodeLimits | null;
  logger: Logger;
}

/** A node's journal and bans, and what it keeps of its peers'. */
export interface Records {
  admission: Admission;
  bans: Bans;
  archive: PeerArchive;
  reader: JournalReader;
  isComplete(): boolean;
  /** Compares the journal with its mark; to be called when peers are served, since they may have to give something back. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export async function openRecords({ identity, store, client, mark: file, limits, logger }: RecordsOptions): Promise<Records> {
  const { index: self, signingKey, others } = identity;
  const { database } = store;
  const getPublicKey = identity.getPublicKey.bind(identity);
  const getKeys = identity.getKeys.bind(identity);
  const mark = new JournalMark(file, self);
  const journal = new Journal(database, self, signingKey);
  const refusalLog = new PolicyRefusalLog(database, self, signingKey);
  const bans = new Bans({ database, self, signingKey, mark, logger });
  const sender = new BanSender(others, (peer, statement) => client.ban(peer, statement), logger);
  for (const statement of await bans.load()) sender.send(statement);
  bans.onBan((_keyId, _peer, statement) => sender.send(statement));
  const guard = new JournalGuard({
    self,
    database,
    journal,
    bans,
    mark,
    others,
    readCopies: (peer, after) => readOwnCopies(self, getKeys(self), peer, after, (position) => client.copies(peer, position)),
    logger,
  });
  return {
    admission: new NodeAdmission({ self, getPublicKey, guard, journal, bans, limits, refusalLog, mark, logger }),
    bans,
    archive: new PeerCopies(database, bans, getKeys),
    reader: new JournalReader(database, self, signingKey),
    isComplete: () => guard.isReady,
    start: async () => {
      await guard.start();
      sender.start();
    },
    close: async () => {
      sender.close();
      await guard.close();
      await mark.close();
    },
  };
}
