//! A Solana chain of surfpool on 127.0.0.1, without any other node behind it: its only argument is the time of a slot in milliseconds. It
//! writes its address as one line of JSON, and ends when its standard input does: with the tests that have started it.

use std::error::Error;
use std::io::{copy, sink, stdin};
use std::thread;
use surfpool_sdk::{BlockProductionMode, Surfnet};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let slot_ms = std::env::args().nth(1).ok_or("name the milliseconds of a slot")?.parse()?;
    let surfnet = Surfnet::builder()
        .offline(true)
        .block_production_mode(BlockProductionMode::Clock)
        .slot_time_ms(slot_ms)
        .start()
        .await?;
    // a channel with room for some: the chain stands still when nobody reads them
    let events = surfnet.events().clone();
    thread::spawn(move || events.iter().for_each(drop));
    println!("{{\"url\":\"{}\",\"webSocket\":\"{}\"}}", surfnet.rpc_url(), surfnet.ws_url());
    copy(&mut stdin(), &mut sink())?;
    Ok(())
}
