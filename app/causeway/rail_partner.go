package main

import (
	"context"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	httpapi "causeway/adapters/http"
	"causeway/adapters/rails/partner"
	"causeway/adapters/secrets"
	"causeway/core/fault"
	"causeway/core/rail"
)

// partnerEventRate is the rate limit of one address that sends events of partners.
var partnerEventRate = httpapi.Rate{PerSecond: 200, Burst: 1000}

// mountPartners adds the address to which partners send their events, and the contract that they implement.
func (a *app) mountPartners(server *httpapi.API) {
	received := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "causeway_partner_events_total", Help: "Messages of partners with events, by what became of them.",
	}, []string{"result"})
	a.metrics.MustRegister(received)
	for _, result := range []partner.Result{partner.Stored, partner.Refused, partner.Failed} {
		received.WithLabelValues(string(result))
	}
	limit := server.LimitByAddress(partnerEventRate, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	server.Mount(http.MethodPost, partner.CallbackPath, limit(&partner.Callback{
		Connection: a.partnerConnection, Secrets: secrets.New(), Events: a.db, Clock: systemClock{}, Log: a.log,
		Received: func(result partner.Result) { received.WithLabelValues(string(result)).Inc() }}))
	server.Mount(http.MethodGet, partner.DescriptionPath, http.HandlerFunc(partner.ServeDescription))
}

// partnerConnection returns a connection of this process by its name.
func (a *app) partnerConnection(_ context.Context, name string) (rail.Connection, error) {
	for _, c := range a.connections.ConnectedRails() {
		if c.Name == name {
			return c.Connection, nil
		}
	}
	return rail.Connection{}, fault.New(fault.NotImplemented, "There is no such connection.")
}
