package postgres_test

import (
	"testing"

	"github.com/google/uuid"

	"causeway/ports/portstest"
)

func TestJobsPort(t *testing.T) {
	t.Parallel()
	c := newTown(t)
	portstest.Jobs(t, c.DB, c.DB, c.here.ID, func() uuid.UUID { return generator.New(noon) }, noon)
}
