import type { DataSource } from 'typeorm';
import type { BlacklistActivities } from '../src/messages/blacklist';
import { blacklistChanges } from '../src/screening/distribution';

export const createBlacklistActivities = (database: DataSource): BlacklistActivities => ({
  blacklistChanges: (input) => blacklistChanges(database.manager, input),
});
