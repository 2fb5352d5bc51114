import { ConfigError } from '../platform/config';
import { Pace } from './pace';

const maxRate = 1_000;

/**
 * The pace of an endpoint: `rate` in the query of its url is how many requests a second it gets; `usual` where it names none.
 * @throws ConfigError, which does not name the url.
 */
export function readPace({ searchParams }: URL, usual: number, where: string): Pace {
  const rate = Number(searchParams.get('rate') ?? usual);
  if (!(rate > 0 && rate <= maxRate)) throw new ConfigError(`${where} has a rate that is not between 0 and ${maxRate}`);
  return new Pace(rate);
}
