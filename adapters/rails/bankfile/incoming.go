package bankfile

import (
	"context"

	"causeway/ports"
)

type sighting struct{}

type reading struct{}

func (a *Adapter) readIncoming(_ context.Context, _ ports.BankLease, from position, _ *ports.RailReport) (next position, more bool, err error) {
	return from, false, nil
}

func (a *Adapter) closeReading() { a.reading = nil }
