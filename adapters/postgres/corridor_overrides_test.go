package postgres_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/core/corridor"
	"causeway/core/money"
	"causeway/ports"
)

func TestCorridorOverrides_RoundTrip(t *testing.T) {
	t.Parallel()
	// What the operator wrote comes in whole, the lines for all platforms first; empty
	// columns leave the built-in value.
	c := newEnv(t)
	operator, err := pgx.Connect(t.Context(), c.url)
	if err != nil {
		t.Fatal(err)
	}
	defer operator.Close(t.Context())
	if _, err := operator.Exec(t.Context(), `INSERT INTO corridor_overrides VALUES
		($1, 'USD', 'BTC', 0, '0.0025', NULL, NULL, NULL),
		(NULL, 'USD', 'EUR', NULL, NULL, 200, 50000, 90)`, c.platform.ID.UUID()); err != nil {
		t.Fatal(err)
	}

	found, err := c.CorridorOverrides(t.Context())

	zero, least, most, lock, fraction := int64(0), int64(200), int64(50000), 90*time.Second, money.MustRate("0.0025")
	want := []ports.CorridorOverride{
		{From: "USD", To: "EUR", Terms: corridor.Override{MinSending: &least, MaxSending: &most, Lock: &lock}},
		{Platform: c.platform.ID, From: "USD", To: "BTC", Terms: corridor.Override{Fixed: &zero, Percent: &fraction}},
	}
	if err != nil || !reflect.DeepEqual(found, want) {
		t.Errorf("read %+v, %v\nwant %+v", found, err, want)
	}

	// A fee that is no fraction is an error that names its line, not a free corridor.
	if _, err := operator.Exec(t.Context(), `UPDATE corridor_overrides SET fee_fraction = '1.5' WHERE destination = 'EUR'`); err != nil {
		t.Fatal(err)
	}
	if found, err := c.CorridorOverrides(t.Context()); err == nil {
		t.Errorf("a fee above the amount: %+v", found)
	}
}
