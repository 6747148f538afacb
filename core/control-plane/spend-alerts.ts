// Alerts for usage that has come to a threshold or to its limit: an audit entry, a line of the log, and a webhook where the settings name one.
// Nobody waits for the webhook. The gateway sends no e-mails: the addresses are in the entry and in the webhook's body, for whoever does.

import { setTimeout as wait } from 'node:timers/promises';
import { reasonOf } from '../errors/gateway-error.js';
import type { Alert } from '../limits/keeper.js';
import { countedPerUnit } from '../snapshot/limit-specs.js';
import { Change } from '../storage/change.js';
import type { Repository } from '../storage/repository.js';
import { ownAuditRecord } from './jobs.js';

/** Alerts whose webhook has not been taken yet; more are not posted. */
const waitingMax = 100;
/** Of one workspace, so that there is room for those of others. */
const waitingOfWorkspaceMax = 20;
/** Before each try but the first. */
const delaysMs = [1_000, 10_000, 60_000] as const;
const timeoutMs = 10_000;

export interface AlertServices {
  readonly repository: Repository;
  readonly webhookUrl: string | undefined;
  post(url: string, body: string, timeoutMs: number, signal: AbortSignal): Promise<{ readonly status: number }>;
  notify(message: string, details: Readonly<Record<string, unknown>>): void;
  onFault(reason: string): void;
  now(): number;
  /** For tests. */
  readonly delaysMs?: readonly number[];
}

export interface AlertBody {
  readonly event: 'usage_limit.threshold_reached' | 'usage_limit.exhausted';
  readonly created_at: string;
  readonly organisation_id: string;
  readonly workspace_id: string | null;
  readonly resource_type: string;
  readonly resource_id: string;
  readonly resource_name: string;
  /** Of policies: whose usage it is. */
  readonly value_key: string | null;
  readonly type: 'cost' | 'tokens' | 'requests';
  /** US dollars, tokens or requests. */
  readonly used: number;
  readonly credit_limit: number | null;
  readonly alert_threshold: number | null;
  readonly resets_at: string | null;
  readonly alert_emails: readonly string[];
}

function alertBody({ kind, counter, owner, used, resetsAtMs }: Alert, nowMs: number): AlertBody {
  const perUnit = countedPerUnit(counter.counted);
  return {
    event: kind === 'threshold' ? 'usage_limit.threshold_reached' : 'usage_limit.exhausted', created_at: new Date(nowMs).toISOString(), organisation_id: owner.organisationId, workspace_id: owner.workspaceId,
    resource_type: owner.kind, resource_id: owner.id, resource_name: owner.name, value_key: owner.level === 'policy' ? counter.key.slice(`policy/${owner.id}/`.length) : null,
    type: counter.counted, used: used / perUnit, credit_limit: owner.maximum === Infinity ? null : owner.maximum / perUnit, alert_threshold: owner.threshold < 0 ? null : owner.threshold / perUnit,
    resets_at: resetsAtMs === null ? null : new Date(resetsAtMs).toISOString(), alert_emails: owner.alertEmails,
  };
}

export class SpendAlerts {
  readonly #services: AlertServices;
  readonly #ending = new AbortController();
  readonly #posts = new Set<Promise<void>>();
  readonly #postsOf = new Map<string, number>();

  constructor(services: AlertServices) {
    this.#services = services;
  }

  /** Resolves when it is in the audit log; the webhook is on its way then. */
  async tell(alert: Alert): Promise<void> {
    const { repository, webhookUrl, notify, onFault, now } = this.#services;
    const nowMs = now();
    const body = alertBody(alert, nowMs);
    const { event, organisation_id: _, workspace_id: __, created_at: ___, ...details } = body;
    const change = new Change();
    change.audit.push(ownAuditRecord(nowMs, { organisationId: alert.owner.organisationId, workspaceId: alert.owner.workspaceId, resourceType: alert.owner.kind, uri: alert.owner.uri }, event, details));
    await repository.commit(change);
    notify(alert.kind === 'threshold' ? 'usage has reached its alert threshold' : 'usage has reached its limit; calls are refused until it is reset or raised', {
      resource: `${body.resource_type} ${body.resource_id}`, name: body.resource_name, type: body.type, used: body.used, limit: body.credit_limit, ...(body.value_key === null ? {} : { of: body.value_key }),
    });
    if (webhookUrl === undefined) return;
    const of = alert.owner.workspaceId ?? alert.owner.organisationId;
    const waiting = this.#postsOf.get(of) ?? 0;
    if (this.#posts.size >= waitingMax || waiting >= waitingOfWorkspaceMax) {
      onFault('too many wait to be posted');
      return;
    }
    this.#postsOf.set(of, waiting + 1);
    const post = this.#post(webhookUrl, JSON.stringify(body)).catch((thrown: unknown) => onFault(reasonOf(thrown))).finally(() => {
      this.#posts.delete(post);
      this.#leave(of);
    });
    this.#posts.add(post);
  }

  #leave(of: string): void {
    const waiting = (this.#postsOf.get(of) ?? 1) - 1;
    if (waiting > 0) this.#postsOf.set(of, waiting);
    else this.#postsOf.delete(of);
  }

  /** Posts that are waiting for their next try are given up. */
  async stop(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#posts);
  }

  async #post(url: string, body: string): Promise<void> {
    const { signal } = this.#ending;
    let reason = '';
    for (const delayMs of [0, ...this.#services.delaysMs ?? delaysMs]) {
      if (delayMs > 0) await wait(delayMs, undefined, { ref: false, signal }).catch(() => undefined);
      if (signal.aborted) break;
      try {
        const { status } = await this.#services.post(url, body, timeoutMs, signal);
        if (status >= 200 && status < 300) return;
        reason = `it was answered with ${status}`;
      } catch (thrown) {
        reason = reasonOf(thrown);
      }
    }
    throw new Error(reason === '' ? 'the gateway is shutting down' : reason);
  }
}
