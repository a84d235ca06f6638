// Package receivers says who can be paid and what it costs: lookups of receivers, providers of
// UMA addresses, and estimates of withdrawal fees.
//
// It moves no money, and its prices are estimates: only a quote fixes one.
package receivers

import (
	"github.com/sirupsen/logrus"

	"causeway/app/internal/jobs"
	"causeway/app/internal/prices"
	"causeway/core/fault"
	"causeway/core/platform"
	"causeway/ports"
)

// Config is what the use cases need.
type Config struct {
	Store          Store
	Counterparties ports.CounterpartiesByEnvironment
	Invoices       ports.UMAInvoices
	Prices         *prices.Prices
	Clock          ports.Clock
	IDs            ports.IDs
	// Jobs, Log, JobRetry and JobMetrics are for invoices that are sent to other providers. JobMetrics may be nil.
	Jobs       ports.Jobs
	Log        *logrus.Entry
	JobRetry   jobs.RetryPolicy
	JobMetrics jobs.Metrics
}

// Service is the use cases.
type Service struct {
	Config
	workers *jobs.Workers
}

// New returns the use cases.
func New(c Config) *Service {
	s := &Service{Config: c}
	s.workers = s.newWorkers()
	return s
}

// counterparties returns the directory of people at other providers. NOT_IMPLEMENTED if the
// environment has none.
func (s *Service) counterparties(environment platform.Environment) (ports.Counterparties, error) {
	directory, connected := s.Config.Counterparties[environment]
	if !connected {
		return nil, fault.New(fault.NotImplemented, "UMA providers are not available on %s platforms of this service yet.", environment)
	}
	return directory, nil
}
