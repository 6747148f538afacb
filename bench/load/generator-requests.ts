// The generator's plain requests: a closed loop over C connections, or a burst of one request each.
import { connect, type Socket } from 'node:net';
import type { Figures } from './figures.js';
import { requestBytes, type GeneratorTask } from './generator-task.js';
import { Histogram } from './histogram.js';
import { ResponseReader } from './response-reader.js';

const readBuffer = Buffer.allocUnsafe(256 * 1024);

export function runRequests(task: GeneratorTask): Promise<Figures> {
  return new Promise((resolve) => {
    const request = requestBytes(task);
    const isBurst = task.mode === 'burst';
    const latencyUs = new Histogram();
    const firstByteUs = new Histogram();
    const sockets = new Set<Socket>();
    let completed = 0;
    let failed = 0;
    let badStatus = 0;
    let opened = 0;
    let sent = 0;
    let isOver = false;
    const startedAtMs = performance.now();
    let recordFromMs = startedAtMs + task.warmupMs;

    const finish = (): void => {
      if (isOver) return;
      isOver = true;
      const nowMs = performance.now();
      const seconds = Math.max(0, nowMs - (isBurst ? startedAtMs : recordFromMs)) / 1000;
      const unfinished = isBurst ? task.connections - completed - failed : 0;
      for (const socket of sockets) socket.destroy();
      resolve({
        requests: completed,
        seconds,
        requestsPerSecond: completed / seconds,
        failed,
        unfinished,
        badStatus,
        p50Us: latencyUs.percentile(0.5),
        p90Us: latencyUs.percentile(0.9),
        p99Us: latencyUs.percentile(0.99),
        firstByteP50Us: firstByteUs.percentile(0.5),
        firstByteP99Us: firstByteUs.percentile(0.99),
      });
    };

    const open = (): void => {
      let sentAtMs = 0;
      let isWaiting = false;
      let hasBody = false;
      const send = (): void => {
        isWaiting = true;
        hasBody = false;
        sent++;
        sentAtMs = performance.now();
        socket.write(request);
      };
      const reader = new ResponseReader({
        onBody: () => {
          if (hasBody) return;
          hasBody = true;
          if (sentAtMs >= recordFromMs) firstByteUs.record((performance.now() - sentAtMs) * 1000);
        },
        onEnd: () => {
          isWaiting = false;
          const nowMs = performance.now();
          if (reader.status !== 200) badStatus++;
          if (sentAtMs >= recordFromMs) {
            completed++;
            latencyUs.record((nowMs - sentAtMs) * 1000);
          }
          if (isBurst) {
            socket.end();
            if (completed + failed >= task.connections) finish();
          } else if (task.requestsMax > 0 && sent >= task.requestsMax) {
            if (completed + failed >= task.requestsMax) finish();
          } else if (!isOver) send();
        },
      });
      const socket = connect({
        port: task.port,
        host: '127.0.0.1',
        noDelay: true,
        onread: {
          buffer: readBuffer,
          callback: (length) => {
            reader.feed(readBuffer, length);
            return true;
          },
        },
      });
      sockets.add(socket);
      socket.on('connect', send);
      // 'close' follows and counts the failure.
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        const wasCut = isWaiting || sentAtMs === 0;
        if (isOver || (wasCut && reader.close())) return;
        if (wasCut) failed++;
        if (isBurst) {
          if (completed + failed >= task.connections) finish();
        } else if (failed < 100) open();
        else finish();
      });
    };

    const ramp = (): void => {
      for (let index = 0; index < task.connectionsPerRampStep && opened < task.connections; index++, opened++) open();
      if (opened < task.connections) setTimeout(ramp, task.rampStepMs);
    };
    if (isBurst) recordFromMs = 0;
    ramp();
    setTimeout(finish, Math.min(task.deadlineMs, isBurst ? Infinity : task.warmupMs + task.durationMs));
  });
}
