// SPDX-License-Identifier: MIT
// In a Qt program: what EchoMQ answers is queued to the application's event loop, so that slots and
// widgets may be touched in it.
//
// Usage: qt_loop [URL]; the server of EMQ_URL, or a private one, when no URL is given.
#include <QCoreApplication>
#include <QThread>
#include <QTimer>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>

#include "echomq/echomq.h"

int main(int argc, char** argv) try {
  QCoreApplication app(argc, argv);
  echomq::ClientOptions options;
  options.post = [&app](std::function<void()> task) {
    QMetaObject::invokeMethod(&app, std::move(task), Qt::QueuedConnection);
  };
  const auto url = argc > 1 ? std::string(argv[1]) : echomq::url_from_env();
  auto mq = echomq::connect(url, std::move(options)).value();
  echomq::Queue<> reports{mq, "reports"};

  constexpr int kReports = 50;
  int added = 0;
  int finished = 0;
  const auto quit_when_done = [&] {
    if (added == kReports && finished == kReports) QCoreApplication::quit();
  };

  // Handlers run on the worker's own threads, and hand over to the event loop what concerns it.
  std::optional<echomq::Worker> worker{
      std::in_place, reports, echomq::WorkerOptions{.concurrency = 4}, [&](echomq::Job<>&) {
        QMetaObject::invokeMethod(
            &app,
            [&] {
              ++finished;
              quit_when_done();
            },
            Qt::QueuedConnection);
      }};

  QTimer::singleShot(0, &app, [&] {
    for (int i = 0; i < kReports; ++i)
      reports.async_add("report " + std::to_string(i), {},
                        [&](const echomq::Result<echomq::AddedJob>& id) {
                          if (QThread::currentThread() != app.thread()) std::abort();
                          if (id)
                            ++added;
                          else
                            std::fprintf(stderr, "%s\n", id.error().message().c_str());
                          quit_when_done();
                        });
  });
  const int code = QCoreApplication::exec();
  worker.reset();  // after the loop: it waits for handlers
  std::printf("%d added, %d finished\n", added, finished);
  return code;
} catch (const std::exception& problem) {
  std::fprintf(stderr, "qt_loop: %s\n", problem.what());
  return 1;
}
