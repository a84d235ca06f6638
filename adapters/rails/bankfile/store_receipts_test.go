package bankfile_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/adapters/rails/bankfile"
	"causeway/core/bankorder"
	"causeway/ports"
)

func TestStore_ReceiptsFoundByTheirNames(t *testing.T) {
	t.Parallel()
	// A name that two receipts have finds both, of more it finds two, and the names of another connection none. Keeping a
	// receipt again changes nothing.
	c := newStoreEnv(t)
	receipts := []bankfile.Receipt{
		{PartnerID: "B1", Names: []string{"own", "shared", "many"}}, {PartnerID: "B2", Names: []string{"shared", "many"}},
		{PartnerID: "B3", Names: []string{"many"}},
		{PartnerID: "B4"},
	}
	for range 2 {
		if err := c.KeepReceipts(t.Context(), c.lease, receipts, noon); err != nil {
			t.Fatal(err)
		}
	}
	asked := []string{"own", "shared", "many", "none"}

	found, err := c.ReceiptsByName(t.Context(), bankName, asked)

	if want := (map[string][]string{"own": {"B1"}, "shared": {"B1", "B2"}, "many": {"B1", "B2"}}); err != nil ||
		!reflect.DeepEqual(found, want) {
		t.Errorf("%v, %v", found, err)
	}
	if other, err := c.ReceiptsByName(t.Context(), "another", asked); err != nil || len(other) != 0 {
		t.Errorf("of another connection: %v, %v", other, err)
	}
}

func TestStore_ReceiptsNotKeptUnderALostLease(t *testing.T) {
	t.Parallel()
	// A process whose lease another has taken over keeps nothing.
	c := newStoreEnv(t)
	lost := c.lease
	c.take(noon.Add(2 * time.Minute))

	err := c.KeepReceipts(t.Context(), lost, []bankfile.Receipt{{PartnerID: "B1", Names: []string{"own"}}}, noon)

	found, errFound := c.ReceiptsByName(t.Context(), bankName, []string{"own"})
	if !errors.Is(err, ports.ErrLeaseLost) || errFound != nil || len(found) != 0 {
		t.Errorf("%v; %v, %v", err, found, errFound)
	}
}

func TestStore_ReceiptsNamesEndWithTheRetention(t *testing.T) {
	t.Parallel()
	// Names of old receipts are deleted, and those of others stay.
	c := newStoreEnv(t)
	for partner, at := range map[string]time.Time{"old": noon.AddDate(0, 0, -10), "new": noon} {
		if err := c.KeepReceipts(t.Context(), c.lease, []bankfile.Receipt{{PartnerID: partner, Names: []string{"name"}}}, at); err != nil {
			t.Fatal(err)
		}
	}

	err := c.db.DeleteOld(t.Context(), postgres.RetentionCutoffs{WithoutPlatform: bankfile.OldRows(noon.AddDate(0, 0, -5))},
		func(string, int) {})

	found, errFound := c.ReceiptsByName(t.Context(), bankName, []string{"name"})
	if err := errors.Join(err, errFound); err != nil || !reflect.DeepEqual(found, map[string][]string{"name": {"new"}}) {
		t.Errorf("%v, %v", found, err)
	}
}

func TestStore_NoticesOfEveryKind(t *testing.T) {
	t.Parallel()
	// Every kind of notice is kept, once for a place, and counted.
	c := newStoreEnv(t)
	kinds := []bankorder.NoticeKind{bankorder.UnknownPayment, bankorder.Contradiction, bankorder.DuplicateFile, bankorder.UnreadableFile,
		bankorder.Correction, bankorder.OtherAccount, bankorder.OtherCurrency}
	for range 2 {
		for _, kind := range kinds {
			if err := c.KeepNotice(t.Context(), c.lease, bankorder.Notice{Connection: bankName, File: 1, Place: "1", Kind: kind, Name: "n",
				At: noon}); err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
		}
	}

	notices, err := c.Notices(t.Context(), bankName, 100)

	if err != nil || len(notices) != len(kinds) {
		t.Errorf("%d notices, %v", len(notices), err)
	}
	if err := c.KeepNotice(t.Context(), c.lease, bankorder.Notice{Connection: bankName, File: 2, Place: "1", Kind: bankorder.Contradiction,
		At: noon.AddDate(0, 0, -2)}); err != nil {
		t.Fatal(err)
	}
	// Metrics count those of a day.
	counted, err := c.CountNotices(t.Context(), noon.AddDate(0, 0, -1), 100)
	if err != nil || len(counted) != len(kinds) {
		t.Errorf("%+v, %v", counted, err)
	}
	for _, n := range counted {
		if n.Connection != bankName || n.Count != 1 {
			t.Errorf("%+v", n)
		}
	}
}
