// The generator's streams: opens N, reads every event, and says how many were whole.
import { connect, type Socket } from 'node:net';
import { EventCounter } from './event-counter.js';
import type { Figures } from './figures.js';
import { requestBytes, type GeneratorTask } from './generator-task.js';
import { Histogram } from './histogram.js';
import { ResponseReader } from './response-reader.js';

const readBuffer = Buffer.allocUnsafe(256 * 1024);

function nowUs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e6 + nanoseconds / 1000;
}

export function runStreams(task: GeneratorTask): Promise<Figures> {
  return new Promise((resolve) => {
    const request = requestBytes(task);
    const times = { gapUs: new Histogram(), deliveryUs: new Histogram() };
    const firstTokenUs = new Histogram();
    const counters: EventCounter[] = [];
    const sockets = new Set<Socket>();
    let whole = 0;
    let broken = 0;
    let badStatus = 0;
    let opened = 0;
    let firstEventAtUs = 0;
    let received = 0;
    const steady = { fromUs: 0, untilUs: 0, events: 0 };
    let heldMax = 0;
    let held = 0;
    let isOver = false;

    const finish = (): void => {
      if (isOver) return;
      isOver = true;
      const unfinished = task.connections - whole - broken;
      for (const socket of sockets) socket.destroy();
      let events = 0;
      let lastEventAtUs = 0;
      for (const counter of counters) {
        events += counter.events;
        lastEventAtUs = Math.max(lastEventAtUs, counter.lastAtUs);
      }
      const seconds = (lastEventAtUs - firstEventAtUs) / 1e6;
      const steadySeconds = (steady.untilUs - steady.fromUs) / 1e6;
      resolve({
        streams: task.connections,
        whole,
        broken,
        unfinished,
        badStatus,
        heldMax,
        events,
        eventsExpected: task.eventsExpected * task.connections,
        seconds,
        eventsPerSecond: steadySeconds > 0 ? steady.events / steadySeconds : events / seconds,
        firstTokenP50Us: firstTokenUs.percentile(0.5),
        firstTokenP99Us: firstTokenUs.percentile(0.99),
        gapP50Us: times.gapUs.percentile(0.5),
        gapP99Us: times.gapUs.percentile(0.99),
        deliveryP50Us: times.deliveryUs.percentile(0.5),
        deliveryP99Us: times.deliveryUs.percentile(0.99),
      });
    };

    const open = (): void => {
      let sentAtUs = 0;
      let arrivedAtUs = 0;
      let isSettled = false;
      const counter = new EventCounter(times);
      counters.push(counter);
      const settle = (isWhole: boolean): void => {
        if (isSettled) return;
        isSettled = true;
        if (counter.events > 0) held--;
        if (isWhole) whole++;
        else broken++;
        if (whole + broken === task.connections) finish();
      };
      const reader = new ResponseReader({
        onBody: (bytes, start, end) => {
          const before = counter.events;
          counter.feed(bytes, start, end, arrivedAtUs);
          received += counter.events - before;
          if (before > 0 || counter.events === 0) return;
          firstTokenUs.record(arrivedAtUs - sentAtUs);
          if (firstEventAtUs === 0) firstEventAtUs = arrivedAtUs;
          held++;
          if (held > heldMax) heldMax = held;
        },
        onEnd: () => {
          if (reader.status !== 200) badStatus++;
          settle(reader.status === 200 && counter.isDone && !counter.isOutOfOrder && counter.events === task.eventsExpected);
          socket.end();
        },
      });
      const socket = connect({
        port: task.port,
        host: '127.0.0.1',
        noDelay: true,
        onread: {
          buffer: readBuffer,
          callback: (length) => {
            arrivedAtUs = nowUs();
            reader.feed(readBuffer, length);
            return true;
          },
        },
      });
      sockets.add(socket);
      socket.on('connect', () => {
        sentAtUs = nowUs();
        socket.write(request);
      });
      // 'close' follows and settles the stream as broken.
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        if (!isOver && !reader.close()) settle(false);
      });
    };

    const ramp = (): void => {
      for (let index = 0; index < task.connectionsPerRampStep && opened < task.connections; index++, opened++) open();
      if (opened < task.connections) setTimeout(ramp, task.rampStepMs);
    };
    ramp();
    if (task.steadyUntilMs > task.steadyFromMs) {
      setTimeout(() => {
        steady.fromUs = nowUs();
        steady.events = -received;
      }, task.steadyFromMs);
      setTimeout(() => {
        steady.untilUs = nowUs();
        steady.events += received;
      }, task.steadyUntilMs);
    }
    setTimeout(finish, task.deadlineMs);
  });
}
