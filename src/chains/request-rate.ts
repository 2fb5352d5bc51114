import { ConfigError } from '../platform/config';
import { Pace, type Turns } from './pace';

const maxRate = 1_000;

/** The paces of endpoints that count requests. Clients that are given the same one share each endpoint's. */
export class Paces {
  private readonly byUrl = new Map<string, Pace>();

  /**
   * For one more client of an endpoint: `rate` in the query of its url is how many requests a second the endpoint gets from all of them; `usual`
   * where it names none.
   * @throws ConfigError, which does not name the url.
   */
  turnsAt({ href, searchParams }: URL, usual: number, where: string): Turns {
    const rate = Number(searchParams.get('rate') ?? usual);
    if (!(rate > 0 && rate <= maxRate)) throw new ConfigError(`${where} has a rate that is not between 0 and ${maxRate}`);
    const pace = this.byUrl.get(href) ?? new Pace(rate);
    this.byUrl.set(href, pace);
    return pace.turns();
  }
}
