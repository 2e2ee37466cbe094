import type { Announcement, InstanceRecord } from "./mdns-record.ts";

/** The multicast DNS of this machine, once it is open. */
export interface Mdns {
  announce(announcement: Announcement): void;
  /** Asks everybody on the LAN again: whoever answers is told as seen, also when nothing about them changed. */
  sweep(): void;
  /** Says goodbye. */
  close(): Promise<void>;
}

export interface MdnsListener {
  seen(record: InstanceRecord): void;
  /** It said goodbye. */
  gone(instance: string): void;
  /** It cannot go on; it is closed and opened again. */
  failed(problem: string): void;
}
