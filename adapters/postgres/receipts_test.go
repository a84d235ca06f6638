package postgres_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/ports"
)

// newReceipt is a payment that a partner reports, under an id of its own.
func newReceipt(on platform.Platform, rail corridor.Rail, partnerID string, at time.Time) transaction.Receipt {
	return transaction.Receipt{ID: ident.NewReceipt(generator.New, noon), PartnerID: partnerID, Platform: on.ID,
		Rail: rail, Reference: "REF", Amount: money.Amount{Minor: 100, Currency: "USD"}, At: at}
}

func TestSaveReceipts_SamePaymentIsNewOnce(t *testing.T) {
	t.Parallel()
	// A payment that a partner reports several times, with whichever time, is new once, in one batch
	// and later, and keeps its first id. Another rail, partner's id or platform is another payment.
	c := newEnv(t)
	report := func() []transaction.Receipt {
		return []transaction.Receipt{
			newReceipt(c.platform, "RTP", "p1", noon), newReceipt(c.platform, "RTP", "p1", noon.Add(time.Hour)),
			newReceipt(c.platform, "RTP", "p2", noon),
			newReceipt(c.platform, "RTP", "p1", noon), newReceipt(c.platform, "WIRE", "p1", noon), newReceipt(c.otherPlatform, "RTP", "p1", noon),
		}
	}
	var first []ports.SavedReceipt
	for round, want := range [][]bool{{true, false, true, false, true, true}, {false, false, false, false, false, false}} {
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
			receipts := report()
			saved, err := tx.SaveReceipts(ctx, receipts)
			for i := range saved {
				if saved[i].IsNew != want[i] || want[i] && saved[i].ID != receipts[i].ID {
					t.Errorf("round %d, receipt %d: new %v, want %v; id %s", round, i, saved[i].IsNew, want[i], saved[i].ID)
				}
				if round == 1 && saved[i].ID != first[i].ID || saved[i].ID.IsZero() {
					t.Errorf("receipt %d has the id %s, was %s", i, saved[i].ID, first[i].ID)
				}
			}
			if saved[0].ID != saved[1].ID || saved[0].ID != saved[3].ID {
				t.Errorf("one payment has the ids %s, %s and %s", saved[0].ID, saved[1].ID, saved[3].ID)
			}
			first = saved
			return err
		})
	}
}

func TestSaveReceipts_ConcurrentReportsAreNewOnce(t *testing.T) {
	t.Parallel()
	// Two units of work that save the same payments, in opposite order, store each once.
	c := newEnv(t)
	newOnes := make(chan int, 2)
	for _, partners := range [][]string{{"a", "b", "c"}, {"c", "b", "a"}} {
		go func() {
			n := 0
			err := c.Do(context.Background(), func(ctx context.Context, tx *postgres.Unit) error {
				n = 0
				var receipts []transaction.Receipt
				for _, id := range partners {
					receipts = append(receipts, newReceipt(c.platform, "RTP", id, noon))
				}
				saved, err := tx.SaveReceipts(ctx, receipts)
				for _, s := range saved {
					if s.IsNew {
						n++
					}
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
			newOnes <- n
		}()
	}
	if n := <-newOnes + <-newOnes; n != 3 {
		t.Errorf("%d receipts are new, want 3", n)
	}
}

func TestSaveReceipts_KeepsLongIDsAndReferences(t *testing.T) {
	t.Parallel()
	// A partner's id of the maximum length that does not compress, and a reference of 10 kB with line
	// breaks and emoji, are kept as they are.
	c := newEnv(t)
	r := newReceipt(c.platform, "RTP", "", noon)
	for len(r.PartnerID) < transaction.MaxPartnerID {
		r.PartnerID += generator.New(noon).String()
	}
	r.PartnerID, r.Reference = r.PartnerID[:transaction.MaxPartnerID], strings.Repeat("line\n\r\t\x01 🙂", 700)
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		_, err := tx.SaveReceipts(ctx, []transaction.Receipt{r.Storable()})
		return err
	})

	stored, err := c.Receipts(t.Context(), c.platform.ID, []ident.Receipt{r.ID})
	if err != nil || len(stored) != 1 || stored[0] != r {
		t.Errorf("stored %+v, %v", stored, err)
	}
}
