// System: nodes, partitions, and the tasks of the node that answers.
import { get } from '../lib/api.ts';
import { shortPosition } from '../lib/commands.ts';
import { number, t } from '../lib/i18n.ts';
import { useResource } from '../lib/resource.ts';
import { ago } from '../lib/time.ts';
import { Head } from '../parts/head.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { State } from '../parts/state.tsx';
import { Table } from '../parts/table.tsx';

type Node = {
  nodeId: string;
  number: number;
  state: string;
  roles: string[];
  version: string;
  host: string;
  port: number;
  started: string;
  heartbeat: string;
  partitions: number[];
};
type Child = { name: string; state: string; healthy: boolean; restarts: number };
type Partition = {
  partitionId: number;
  duty: string;
  leads: boolean;
  position: string | null;
  commandsPerSecond?: number;
  batches?: number;
  commands?: number;
};
type Status = {
  nodeId: string;
  healthy: boolean;
  children: Child[];
  partitions?: Partition[];
  definitions?: { entries: number; bytes: number; hits: number; misses: number };
};
type Found = { nodes: Node[]; without: number[]; status: Status };

async function load(abort: AbortSignal): Promise<Found> {
  const [cluster, status] = await Promise.all([
    get<{ nodes: Node[]; partitionsWithoutLeader: number[] }>('/cluster/nodes', abort),
    get<Status>('/cluster/status', abort),
  ]);
  return { nodes: cluster.nodes, without: cluster.partitionsWithoutLeader, status };
}

export function System() {
  const found = useResource('system', load, ['system']);
  const data = found.data.value;
  return (
    <>
      <Head
        title={t('nav.system')}
        note={
          data &&
          (data.status.healthy && !data.without.length ? `✓ ${t('system.healthy')}` : `! ${t('system.unhealthy')}`)
        }
      />
      {found.problem.value && <ProblemBox problem={found.problem.value} retry={found.reload} />}
      {data && (
        <div class="stack results">
          {data.without.length > 0 && <p class="problem">{t('system.noLeader', { list: data.without.join(', ') })}</p>}
          <h2>{t('system.nodes')}</h2>
          <Table
            label={t('system.nodes')}
            items={data.nodes}
            id={(node) => node.nodeId}
            columns={[
              { title: t('system.node'), wide: true, cell: (node) => <b>{node.nodeId}</b> },
              { title: t('state'), cell: (node) => <State of={node.state} /> },
              { title: t('system.roles'), cell: (node) => node.roles.join(', ') },
              { title: t('system.partitions'), cell: (node) => node.partitions.join(', ') || '–' },
              { title: t('version'), cell: (node) => node.version },
              {
                title: t('system.address'),
                cell: (node) => (
                  <code>
                    {node.host}:{node.port}
                  </code>
                ),
              },
              { title: t('started'), cell: (node) => ago(node.started) },
              { title: t('system.heartbeat'), cell: (node) => ago(node.heartbeat) },
            ]}
          />
          <h2>{t('system.partitionsOf', { node: data.status.nodeId })}</h2>
          <Table
            label={t('system.partitions')}
            items={data.status.partitions ?? []}
            id={(partition) => String(partition.partitionId)}
            columns={[
              { title: t('system.partition'), cell: (p) => p.partitionId },
              { title: t('state'), cell: (p) => (p.leads ? t('system.leads') : p.duty) },
              { title: t('position'), cell: (p) => (p.position ? shortPosition(p.position) : '–') },
              { title: t('system.rate'), cell: (p) => number(Math.round(p.commandsPerSecond ?? 0)) },
              { title: t('system.batches'), cell: (p) => number(p.batches ?? 0) },
              { title: t('system.commands'), cell: (p) => number(p.commands ?? 0) },
            ]}
          />
          <h2>{t('system.tasks')}</h2>
          <ul class="tiles">
            {data.status.children.map((child) => (
              <li key={child.name} class={child.healthy ? undefined : 'bad'}>
                <b>{child.name}</b>
                <span class="dim">
                  {child.healthy ? '✓' : '!'} {child.state}
                  {child.restarts > 0 && ` · ${t('system.restarts', { n: child.restarts })}`}
                </span>
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}
