package main

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"

	"causeway/app/webhooks"
	"causeway/core/event"
	"causeway/core/ident"
)

// webhookMetrics records the attempts and results of webhook deliveries.
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
			Name: "causeway_webhook_attempt_seconds", Help: "Duration of webhook delivery attempts, by outcome.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 8),
		}, []string{"outcome"}),
		lag: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "causeway_webhook_lag_seconds", Help: "Time from an event to its successful delivery.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 12),
		}),
		abandoned: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "causeway_webhooks_failed_total", Help: "Webhooks given up after the retry period.",
		}),
	}
	registry.MustRegister(m.attempts, m.lag, m.abandoned)
	return m
}

func (m *webhookMetrics) Attempted(outcome event.Outcome, duration time.Duration) {
	m.attempts.WithLabelValues(string(outcome)).Observe(duration.Seconds())
}

func (m *webhookMetrics) Delivered(lag time.Duration) { m.lag.Observe(lag.Seconds()) }

func (m *webhookMetrics) Abandoned() { m.abandoned.Inc() }

func (m *webhookMetrics) InternalError(p ident.Platform, reason string) {
	m.log.WithField("platform", p.String()).WithField("error", reason).Error("webhook attempt failed in this service; will retry")
}

func (m *webhookMetrics) Paused(p ident.Platform, outcome event.Outcome) {
	m.log.WithField("platform", p.String()).WithField("outcome", outcome).Warn("webhook endpoint failing; deliveries paused, probing")
}

func (m *webhookMetrics) Resumed(p ident.Platform) {
	m.log.WithField("platform", p.String()).Info("webhook endpoint recovered; deliveries resumed")
}

func (m *webhookMetrics) Disconnected(err error) {
	m.log.WithError(err).Warn("webhook session lost; reconnecting")
}
