package portstest

import (
	"context"
	"sync"
	"time"

	"causeway/core/rail"
	"causeway/ports"
)

// RailDepartures is a ports.RailDepartures in memory. A payment counts as handed over when it is first asked about.
type RailDepartures struct {
	mu       sync.Mutex
	payments map[ports.RailPaymentKey]rail.Payment
	paused   bool
}

var _ ports.RailDepartures = (*RailDepartures)(nil)

// Pause pauses or resumes every connection.
func (d *RailDepartures) Pause(paused bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.paused = paused
}

// Payment returns a payment as it is recorded, or false.
func (d *RailDepartures) Payment(key ports.RailPaymentKey) (rail.Payment, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p, known := d.payments[key]
	return p, known
}

// Cancel cancels a payment that has not left, and reports whether it did.
func (d *RailDepartures) Cancel(key ports.RailPaymentKey, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	after, ended := d.payments[key].TakeBack("cancelled", now)
	if ended {
		d.payments[key] = after
	}
	return ended
}

// LeaveRailPayments implements ports.RailDepartures.
func (d *RailDepartures) LeaveRailPayments(_ context.Context, connection string, keys []ports.RailPaymentKey, now time.Time) ([]rail.Departure, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.payments == nil {
		d.payments = map[ports.RailPaymentKey]rail.Payment{}
	}
	departures := make([]rail.Departure, len(keys))
	for i, key := range keys {
		p, known := d.payments[key]
		if !known {
			p = rail.Payment{ID: key.ID, Kind: key.Kind, Connection: connection, State: rail.HandedOver, HandedOverAt: now}
		}
		d.payments[key], departures[i] = p.Depart(connection, d.paused, now)
	}
	return departures, nil
}

// RailPaymentsNotTaken implements ports.RailDepartures.
func (d *RailDepartures) RailPaymentsNotTaken(_ context.Context, connection string, keys []ports.RailPaymentKey, now time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, key := range keys {
		d.payments[key] = d.payments[key].NotTaken(connection, now)
	}
	return nil
}
