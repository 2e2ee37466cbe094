import type { EventEmitter } from "node:events";
import type { Browser, Service } from "bonjour-service";
import { systemClock } from "../../runtime/clock.ts";
import { withDeadline } from "../../runtime/deadline.ts";
import type { Mdns, MdnsListener } from "./mdns.ts";
import { type Announcement, type InstanceRecord, mdnsService } from "./mdns-record.ts";

const goodbyeWithinMs = 1_000;

/** Multicast DNS on UDP port 5353 of every IPv4 interface. */
export async function openBonjour(listener: MdnsListener): Promise<Mdns> {
  const { default: Bonjour } = await import("bonjour-service");
  const fail = (error: unknown) => listener.failed(error instanceof Error ? error.message : String(error));
  const bonjour = new Bonjour({}, fail);
  socketOf(bonjour).on("error", fail);
  let browser: Browser | undefined;
  return {
    announce: (announcement) => void bonjour.publish(serviceOf(announcement)),
    sweep: () => {
      browser?.stop();
      browser = bonjour.find(mdnsService);
      for (const event of ["up", "txt-update", "srv-update"] as const)
        browser.on(event, (service: Service) => listener.seen(recordOf(service)));
      browser.on("down", (service) => listener.gone(service.name));
    },
    close: async () => {
      browser?.stop();
      await inTime(new Promise((resolve) => bonjour.unpublishAll(resolve)));
      await inTime(new Promise((resolve) => bonjour.destroy(resolve)));
    },
  };
}

/** Without a listener an error of the socket would end the process, and the library keeps the socket to itself. */
function socketOf(bonjour: object): EventEmitter {
  const { server } = bonjour as { readonly server: { readonly mdns: EventEmitter } };
  return server.mdns;
}

/** A host name of its own per instance: two nodes on one machine, or two machines of one name, do not mix. */
function serviceOf({ instance, port, txt }: Announcement) {
  return { ...mdnsService, name: instance, host: `${instance}.local`, port, txt, probe: false };
}

function recordOf({ name, port, addresses, txt, referer }: Service): InstanceRecord {
  return {
    instance: name,
    port,
    addresses: addresses ?? [],
    txt: Object.fromEntries(Object.entries(txt ?? {}).flatMap(([key, value]) => textEntry(key, value))),
    ...(referer && { sender: referer.address }),
  };
}

function textEntry(key: string, value: unknown): readonly (readonly [string, string])[] {
  return typeof value === "string" ? [[key, value]] : [];
}

async function inTime(work: Promise<unknown>): Promise<void> {
  await withDeadline({ clock: systemClock, ms: goodbyeWithinMs }, () => work).catch(() => undefined);
}
