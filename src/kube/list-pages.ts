import type { KubeClient, ListOptions } from "./client.ts";
import type { KubeList, KubeObject } from "./object.ts";
import type { Resource } from "./resource.ts";

const defaultLimit = 500;

/**
 * The pages of a whole list, one request each. A continue token that expired on the way throws `gone`: what came so
 * far is then no list, and the caller starts again.
 */
export async function* listPages<T extends KubeObject>(
  client: Pick<KubeClient, "list">,
  resource: Resource<T>,
  options: Omit<ListOptions, "continue"> = {},
): AsyncGenerator<KubeList<T>, void, undefined> {
  let page = await client.list(resource, { limit: defaultLimit, ...options });
  yield page;
  while (page.metadata.continue) {
    page = await client.list(resource, { limit: defaultLimit, ...options, continue: page.metadata.continue });
    yield page;
  }
}

/** A whole list in one piece, however many pages it has; its version is that of the last page. */
export async function listAll<T extends KubeObject>(
  client: Pick<KubeClient, "list">,
  resource: Resource<T>,
  options: Omit<ListOptions, "continue"> = {},
): Promise<KubeList<T>> {
  const items: T[] = [];
  let resourceVersion = "";
  for await (const page of listPages(client, resource, options)) {
    for (const item of page.items) items.push(item);
    resourceVersion = page.metadata.resourceVersion;
  }
  return { metadata: { resourceVersion }, items };
}
