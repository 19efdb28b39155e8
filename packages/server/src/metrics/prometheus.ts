import { readdirSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type pg from 'pg';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { PlatformMetrics } from './platformMetrics.ts';
import type { MetricsRecorder } from './recorder.ts';

export interface Collector extends MetricsRecorder {
  /** A message of this level was logged. */
  logged(level: string): void;
  /** A log message could not be written. */
  logLost(): void;
  /** Everything in Prometheus' text format; `figures` is null when the database did not answer. */
  text(pools: Readonly<Record<string, pg.Pool>>, figures: PlatformMetrics | null): Promise<string>;
  contentType: string;
  stop(): void;
}

const COUNTED_LEVELS = ['warn', 'error', 'fatal'];
const DELAY_RESOLUTION_MS = 20;
const NS = 1e9;

/** The metrics of this process. Without a scrape it costs only the counters. */
export function createPrometheusCollector(): Collector {
  const registry = new Registry();
  const registers = [registry];
  const gauge = <L extends string = never>(name: string, help: string, labelNames: L[] = []) =>
    new Gauge({ name, help, labelNames, registers });

  const calls = new Histogram({
    name: 'stagi_call_seconds',
    help: 'Answered calls and how long they took',
    labelNames: ['call', 'status'],
    buckets: [0.01, 0.05, 0.2, 1, 5],
    registers,
  });
  const answered = new Map<string, ReturnType<typeof calls.labels>>();
  const messages = new Counter({
    name: 'stagi_log_messages_total',
    help: 'Messages this process logged, by level',
    labelNames: ['level'],
    registers,
  });
  for (const level of COUNTED_LEVELS) messages.inc({ level }, 0);
  const lost = new Counter({
    name: 'stagi_log_messages_lost_total',
    help: 'Times that the log of this process could not be written',
    registers,
  });
  const inside = gauge('stagi_calls_inside', 'Calls that are being worked on');
  const shed = new Counter({
    name: 'stagi_calls_shed_total',
    help: 'Calls refused with 429 or 503 because too many were waiting for their turn',
    registers,
  });
  const links = gauge('stagi_links_open', 'Daemons connected to this process');
  const lines = new Counter({ name: 'stagi_log_lines_total', help: 'Container log lines stored', registers });
  const gaps = new Counter({ name: 'stagi_log_gaps_total', help: 'Losses marked in container logs', registers });
  const lag = new Histogram({
    name: 'stagi_log_lag_seconds',
    help: 'From the print of a line, by the clock of its machine, to its storing; the last line of each batch',
    buckets: [0.1, 0.5, 2, 10, 60, 600],
    registers,
  });

  const s3Requests = new Histogram({
    name: 'stagi_s3_request_seconds',
    help: 'Answered S3 requests and how long they took, with their transfers',
    labelNames: ['operation', 'status'],
    buckets: [0.01, 0.05, 0.2, 1, 5, 60],
    registers,
  });
  const s3Bytes = new Counter({
    name: 'stagi_s3_bytes_total',
    help: 'Bytes of bodies that the S3 service received, and of answers that it sent',
    labelNames: ['direction'],
    registers,
  });
  const s3Missing = gauge('stagi_s3_blobs_missing', 'Stored blobs whose bytes the last repair did not find');
  const unknown = gauge('stagi_unknown_bytes', 'Names in a place of bytes that no row of the database knows', [
    'place',
  ]);
  const unknownAlarm = gauge('stagi_unknown_bytes_alarm', '1 when they are so many that none is removed', ['place']);
  const s3Corrected = new Counter({
    name: 'stagi_s3_use_corrected_total',
    help: 'Buckets whose use was wrong; any is a bug',
    registers,
  });

  const ports = new Histogram({
    name: 'stagi_port_seconds',
    help: 'Requests and WebSockets passed on to ports of containers, and how long they took',
    labelNames: ['status'],
    buckets: [0.01, 0.05, 0.2, 1, 5, 60],
    registers,
  });
  const portsInside = gauge('stagi_ports_inside', 'Requests and WebSockets to ports of containers that go on');

  const delays = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
  delays.enable();
  const loop = gauge('stagi_event_loop_delay_seconds', 'Delay of the event loop since the last scrape', ['quantile']);
  const memory = gauge('process_resident_memory_bytes', 'Memory of this process');
  const heap = gauge('nodejs_heap_size_used_bytes', 'Heap in use');
  const cpu = new Counter({ name: 'process_cpu_seconds_total', help: 'Processor time since the start', registers });
  const files = gauge('process_open_fds', 'Open files and sockets');
  const started = gauge('process_start_time_seconds', 'When this process started');
  started.set(Date.now() / 1000 - process.uptime());

  const up = gauge('stagi_database_up', '1 when the database answered this scrape in time');
  const connections = gauge('stagi_pool_connections', 'Connections of the pools', ['pool', 'state']);
  const waiting = gauge('stagi_pool_waiting', 'Queries that wait for a connection', ['pool']);
  const jobs = gauge('stagi_jobs_waiting', 'Jobs due and not begun, counted up to 10,000', ['queue']);
  const jobAge = gauge('stagi_jobs_oldest_seconds', 'For how long the oldest of them waits', ['queue']);
  const strays = gauge('stagi_strays', 'Machines at clouds that no open server owns', ['reason']);
  const reconcile = gauge('stagi_reconcile_lag_seconds', 'For how long the most overdue server waits for its step');
  const metering = gauge('stagi_metering_lag_seconds', 'For how long what runs longest uncharged was not charged');
  const copiesFailing = gauge('stagi_log_copies_failing', 'Logs whose copying to their bucket keeps failing');
  const instances = gauge('stagi_instances', 'Open servers', ['kind', 'status']);
  const containers = gauge('stagi_containers', 'Containers', ['status']);
  const mails = gauge('stagi_mails_unsent', 'Mails that are not sent, counted up to 10,000', ['state']);
  const ledgerSound = gauge('stagi_ledger_sound', '1 when the last verification of the ledger found nothing');
  const ledgerAge = gauge('stagi_ledger_verified_seconds', 'Since the last verification of the ledger');
  const auditWhole = gauge('stagi_audit_whole', '1 when the last check of all audit logs found each whole');
  const auditAge = gauge('stagi_audit_checked_seconds', 'Since the last check of all audit logs');
  const mailServerUp = gauge('stagi_mail_server_up', '1 when the mail server was reached, 0 when mails cannot be sent');
  const mailAge = gauge('stagi_mail_oldest_seconds', 'For how long the oldest mail that has not failed waits');

  return {
    callAnswered(call, status, seconds) {
      const key = `${status} ${call}`;
      // Cached, as looking up the labels costs more than counting.
      let child = answered.get(key);
      if (!child) {
        child = calls.labels({ call, status: String(status) });
        answered.set(key, child);
      }
      child.observe(seconds);
    },
    callsInFlight: (count) => inside.set(count),
    callShed: () => shed.inc(),
    logLost: () => lost.inc(),
    linkOpened: () => links.inc(),
    linkClosed: () => links.dec(),
    linesStored(count, lastNs) {
      lines.inc(count);
      if (lastNs !== undefined) lag.observe(Math.max(0, Date.now() / 1000 - Number(lastNs) / NS));
    },
    gapStored: () => gaps.inc(),
    s3Answered(operation, status, seconds, received, sent) {
      s3Requests.observe({ operation, status: String(status) }, seconds);
      s3Bytes.inc({ direction: 'received' }, received);
      s3Bytes.inc({ direction: 'sent' }, sent);
    },
    portAnswered: (status, seconds) => ports.observe({ status: String(status) }, seconds),
    portsOpen: (count) => portsInside.set(count),
    blobsMissing: (count) => s3Missing.set(count),
    unknownBytes(place, count, hasAlarm) {
      unknown.set({ place }, count);
      unknownAlarm.set({ place }, hasAlarm ? 1 : 0);
    },
    useCorrected: () => s3Corrected.inc(),
    logged(level) {
      if (COUNTED_LEVELS.includes(level)) messages.inc({ level });
    },
    contentType: registry.contentType,
    stop: () => delays.disable(),
    text(pools, figures) {
      readProcess();
      for (const [name, pool] of Object.entries(pools)) {
        connections.set({ pool: name, state: 'total' }, pool.totalCount);
        connections.set({ pool: name, state: 'idle' }, pool.idleCount);
        waiting.set({ pool: name }, pool.waitingCount);
      }
      setPlatformMetrics(figures);
      return registry.metrics();
    },
  };

  function readProcess(): void {
    const { rss, heapUsed } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    memory.set(rss);
    heap.set(heapUsed);
    cpu.reset();
    cpu.inc((user + system) / 1e6);
    files.set(readdirSync('/proc/self/fd').length);
    // Node returns NaN without a sample.
    for (const quantile of [50, 99, 100]) {
      loop.set({ quantile: String(quantile / 100) }, delays.count ? delays.percentile(quantile) / NS : 0);
    }
    delays.reset();
  }

  /** Unknown values are removed, as an old one would look current. */
  function setPlatformMetrics(figures: PlatformMetrics | null): void {
    up.set(figures ? 1 : 0);
    for (const each of [jobs, jobAge, instances, containers, mails, strays]) each.reset();
    reconcile.remove();
    metering.remove();
    copiesFailing.remove();
    mailAge.remove();
    mailServerUp.remove();
    ledgerSound.remove();
    ledgerAge.remove();
    auditWhole.remove();
    auditAge.remove();
    if (!figures) return;
    reconcile.set(figures.reconcileLagSeconds);
    metering.set(figures.meteringLagSeconds);
    copiesFailing.set(figures.logCopiesFailing);
    for (const { reason, count } of figures.strays) strays.set({ reason }, count);
    for (const { name, waiting: count, oldestSeconds } of figures.jobs) {
      jobs.set({ queue: name }, count);
      jobAge.set({ queue: name }, oldestSeconds);
    }
    for (const { kind, status, count } of figures.instances) instances.set({ kind, status }, count);
    for (const { status, count } of figures.containers) containers.set({ status }, count);
    if (figures.ledger) {
      ledgerSound.set(figures.ledger.sound ? 1 : 0);
      ledgerAge.set(figures.ledger.seconds);
    }
    if (figures.audit) {
      auditWhole.set(figures.audit.whole ? 1 : 0);
      auditAge.set(figures.audit.seconds);
    }
    if (figures.mailServerUp !== null) mailServerUp.set(figures.mailServerUp ? 1 : 0);
    if (!figures.mails) return;
    mails.set({ state: 'waiting' }, figures.mails.waiting);
    mails.set({ state: 'failed' }, figures.mails.failed);
    mailAge.set(figures.mails.oldestSeconds);
  }
}
