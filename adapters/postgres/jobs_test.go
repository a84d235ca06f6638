package postgres_test

import (
	"testing"

	"github.com/google/uuid"

	"causeway/ports/portstest"
)

func TestJobs_Conformance(t *testing.T) {
	t.Parallel()
	c := newEnv(t)
	portstest.Jobs(t, c.DB, c.DB, c.platform.ID, func() uuid.UUID { return generator.New(noon) }, noon)
}
