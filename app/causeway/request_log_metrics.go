package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"causeway/app/requestlogs"
)

// requestLogMetrics counts the entries of the log of requests.
type requestLogMetrics struct{ written, lost prometheus.Counter }

var _ requestlogs.Metrics = requestLogMetrics{}

func newRequestLogMetrics(registry *prometheus.Registry) requestLogMetrics {
	entries := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "causeway_request_log_entries_total", Help: "Entries of the log of API requests that were written, and that were lost.",
	}, []string{"outcome"})
	registry.MustRegister(entries)
	return requestLogMetrics{entries.WithLabelValues("written"), entries.WithLabelValues("lost")}
}

func (m requestLogMetrics) Written(entries int) { m.written.Add(float64(entries)) }
func (m requestLogMetrics) Lost(entries int)    { m.lost.Add(float64(entries)) }
