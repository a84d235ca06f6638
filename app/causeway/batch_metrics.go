package main

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"causeway/app/internal/batch"
)

// batchMetrics records the batches of commands, by the kind of command.
type batchMetrics struct {
	waiting            *prometheus.GaugeVec
	sizes, waits       *prometheus.HistogramVec
	refused, withdrawn *prometheus.CounterVec
}

var _ batch.Observer = (*batchMetrics)(nil)

func newBatchMetrics(registry *prometheus.Registry) *batchMetrics {
	kind := []string{"command"}
	m := &batchMetrics{
		waiting: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "causeway_commands_waiting", Help: "Commands that wait for a batch, by kind.",
		}, kind),
		sizes: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "causeway_batch_commands", Help: "Commands in a batch, by kind.",
			Buckets: prometheus.ExponentialBuckets(1, 2, 9),
		}, kind),
		waits: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "causeway_batch_wait_seconds", Help: "Time that the first command of a batch waited for it, by kind.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 4, 9),
		}, kind),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_commands_refused_total", Help: "Commands refused with 503 because the queue of their platform was full, by kind.",
		}, kind),
		withdrawn: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_commands_withdrawn_total", Help: "Commands not run because their caller had gone, by kind.",
		}, kind),
	}
	registry.MustRegister(m.waiting, m.sizes, m.waits, m.refused, m.withdrawn)
	return m
}

func (m *batchMetrics) Waiting(kind string, commands int) {
	m.waiting.WithLabelValues(kind).Set(float64(commands))
}

func (m *batchMetrics) Started(kind string, commands int, waited time.Duration) {
	m.sizes.WithLabelValues(kind).Observe(float64(commands))
	m.waits.WithLabelValues(kind).Observe(waited.Seconds())
}

func (m *batchMetrics) Refused(kind string)   { m.refused.WithLabelValues(kind).Inc() }
func (m *batchMetrics) Withdrawn(kind string) { m.withdrawn.WithLabelValues(kind).Inc() }
