package portstest

import (
	"context"
	"sync"
	"time"

	"causeway/core/platform"
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

// SaveRailPause implements RailRecords: it pauses or resumes every connection.
func (d *RailDepartures) SaveRailPause(_ context.Context, p ports.RailPause, _ ...platform.OperatorAction) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.paused = p.Paused
	return nil
}

// ChangeRailPayment implements RailRecords.
func (d *RailDepartures) ChangeRailPayment(_ context.Context, key ports.RailPaymentKey, fn func(rail.Payment) (rail.Payment, error)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	after, err := fn(d.payments[key])
	if err == nil {
		d.keep(key, after)
	}
	return err
}

func (d *RailDepartures) keep(key ports.RailPaymentKey, p rail.Payment) {
	if d.payments == nil {
		d.payments = map[ports.RailPaymentKey]rail.Payment{}
	}
	d.payments[key] = p
}

// find returns the key and the state of a payment. A refund can be that of a receipt, which is another kind.
func (d *RailDepartures) find(key ports.RailPaymentKey) (ports.RailPaymentKey, rail.Payment, bool) {
	if _, known := d.payments[key]; !known && key.Kind == rail.Refund {
		key.Kind = rail.SendBack
	}
	p, known := d.payments[key]
	return key, p, known
}

// LeaveRailPayments implements ports.RailDepartures.
func (d *RailDepartures) LeaveRailPayments(_ context.Context, connection string, keys []ports.RailPaymentKey,
	now time.Time) ([]rail.Departure, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	departures := make([]rail.Departure, len(keys))
	for i, wanted := range keys {
		key, p, known := d.find(wanted)
		if !known {
			key, p = wanted, rail.Payment{ID: wanted.ID, Kind: wanted.Kind, Connection: connection, State: rail.HandedOver, HandedOverAt: now}
		}
		p, departures[i] = p.Depart(connection, d.paused, now)
		d.keep(key, p)
	}
	return departures, nil
}

// RailPaymentsNotTaken implements ports.RailDepartures.
func (d *RailDepartures) RailPaymentsNotTaken(_ context.Context, connection string, keys []ports.RailPaymentKey, now time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, wanted := range keys {
		key, p, _ := d.find(wanted)
		d.keep(key, p.NotTaken(connection, now))
	}
	return nil
}

// UnknownRailPayments implements ports.RailDepartures.
func (d *RailDepartures) UnknownRailPayments(_ context.Context, keys []ports.RailPaymentKey) (unknown []ports.RailPaymentKey, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, key := range keys {
		if _, _, known := d.find(key); !known {
			unknown = append(unknown, key)
		}
	}
	return unknown, nil
}
