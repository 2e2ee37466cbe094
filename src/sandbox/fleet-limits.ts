/** Where the address plan of the fleet ends: clusters of a fleet, nodes of a cluster. */
export const fleetLimits = { clusters: 60, nodes: 254 } as const;
