package main

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"

	"causeway/app/webhooks"
	"causeway/core/event"
	"causeway/core/ident"
)

// webhookMetrics counts what the dispatcher of webhooks does.
type webhookMetrics struct {
	log       *logrus.Logger
	attempts  *prometheus.HistogramVec
	lag       prometheus.Histogram
	abandoned prometheus.Counter
}

var _ webhooks.Metrics = (*webhookMetrics)(nil)

func newWebhookMetrics(registry *prometheus.Registry, log *logrus.Logger) *webhookMetrics {
	m := &webhookMetrics{
		log: log,
		attempts: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "causeway_webhook_attempt_seconds", Help: "Attempts to deliver a webhook, by outcome.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 8),
		}, []string{"outcome"}),
		lag: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "causeway_webhook_lag_seconds", Help: "Time from an event to its delivery.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 12),
		}),
		abandoned: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "causeway_webhooks_parked_total", Help: "Webhooks given up after their time for trying was over.",
		}),
	}
	registry.MustRegister(m.attempts, m.lag, m.abandoned)
	return m
}

func (m *webhookMetrics) Attempted(outcome event.Outcome, took time.Duration) {
	m.attempts.WithLabelValues(string(outcome)).Observe(took.Seconds())
}

func (m *webhookMetrics) Delivered(after time.Duration) { m.lag.Observe(after.Seconds()) }

func (m *webhookMetrics) Abandoned() { m.abandoned.Inc() }

func (m *webhookMetrics) Paused(p ident.Platform, outcome event.Outcome) {
	m.log.WithField("platform", p.String()).WithField("outcome", outcome).Warn("webhook endpoint fails and is only probed")
}

func (m *webhookMetrics) Resumed(p ident.Platform) {
	m.log.WithField("platform", p.String()).Info("webhook endpoint answers again")
}

func (m *webhookMetrics) Disconnected(err error) {
	m.log.WithError(err).Warn("the webhook queue was lost and is looked for again")
}
