package audit_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/sirupsen/logrus/hooks/test"

	"causeway/adapters/checkpoints"
	"causeway/adapters/encryption"
	made "causeway/adapters/ids"
	"causeway/app/audit"
	"causeway/ports"
	"causeway/ports/portstest"
)

// sealedEnv is a house whose postings are sealed, with what was published of it.
type sealedEnv struct {
	*env
	logService *audit.Log
	published  bytes.Buffer
	// earlierLog is the log's row when all but the newest ten postings were sealed.
	earlierLog struct {
		size int64
		edge []byte
	}
}

// newSealedEnv is a vault with 1,223 postings, sealed at 1,208, at 1,213 and at the end.
func newSealedEnv(t *testing.T) *sealedEnv {
	t.Helper()
	v := &sealedEnv{env: newFilledEnv(t)}
	v.openLog()
	v.seal()
	bob := newInternalAccountID()
	for range 5 {
		v.mustPost(v.deposit(bob, 1000))
	}
	v.seal()
	if err := v.pool.QueryRow(t.Context(), "SELECT size, partial_tiles FROM ledger_log_state").Scan(&v.earlierLog.size, &v.earlierLog.edge); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		v.mustPost(v.transferOut(bob, 7))
	}
	v.seal()
	return v
}

func (v *sealedEnv) openLog() {
	v.t.Helper()
	key := sha256.Sum256([]byte("master"))
	box, err := encryption.New(key[:])
	if err != nil {
		v.t.Fatal(err)
	}
	quiet, _ := test.NewNullLogger()
	log := v.newLog()
	v.logService = audit.NewLog(audit.LogConfig{Log: log, Signer: checkpoints.NewKeyring(log, box, portstest.NewFakeClock(noon), made.New()), Publisher: v, Clock: portstest.NewFakeClock(noon),
		Logger: logrus.NewEntry(quiet), Interval: time.Minute})
}

// Publish keeps heads where no superuser of the database comes.
func (v *sealedEnv) Publish(_ context.Context, heads []ports.SignedCheckpoint) error {
	for _, h := range heads {
		v.published.WriteString(h.Note + "\n")
	}
	return nil
}

func (v *sealedEnv) seal() {
	v.t.Helper()
	if err := v.logService.SealDue(v.t.Context()); err != nil {
		v.t.Fatal(err)
	}
	if err := v.logService.PublishDue(v.t.Context()); err != nil {
		v.t.Fatal(err)
	}
}

func (v *sealedEnv) publishedCheckpoints() []audit.PublishedCheckpoint {
	v.t.Helper()
	found, err := audit.ReadCheckpoints("published.checkpoints", strings.NewReader(v.published.String()))
	if err != nil {
		v.t.Fatal(err)
	}
	return found
}

func (v *sealedEnv) verify() audit.Report {
	v.t.Helper()
	report, err := v.newService(checkDelivered).Verify(v.t.Context(), audit.VerifyOptions{Published: v.publishedCheckpoints()})
	if err != nil {
		v.t.Fatal(err)
	}
	return report
}

// recomputeDigests makes the digests of some postings fit what they say now, as somebody would
// who knows how they are made; and the balances of guarded accounts.
func (v *sealedEnv) recomputeDigests(seqs ...int64) {
	v.t.Helper()
	statement := recomputeBalancesSQL
	err := v.newAudit().Snapshot(v.t.Context(), func(ctx context.Context, view ports.AuditView) error {
		return view.Postings(ctx, v.platform, func(a ports.AuditPosting) error {
			for _, seq := range seqs {
				if a.Seq == seq {
					statement += fmt.Sprintf(`; UPDATE ledger_postings SET digest = '\x%x' WHERE seq = %d`, a.WithEntries().Digest(), seq)
				}
			}
			return nil
		})
	})
	if err != nil {
		v.t.Fatal(err)
	}
	v.execAsSuperuser(statement)
}

const recomputeBalancesSQL = `UPDATE ledger_balances b SET balance = (
	SELECT coalesce(sum(CASE WHEN e.credit_account_id = b.account_id THEN e.amount ELSE -e.amount END), 0)
	FROM ledger_entries e WHERE b.account_id IN (e.debit_account_id, e.credit_account_id))`

// rewindLogSQL makes the log what it was before the newest ten postings.
func (v *sealedEnv) rewindLogSQL() string {
	return fmt.Sprintf(`DELETE FROM ledger_log_checkpoints WHERE size > %d; UPDATE ledger_log_state SET size = %[1]d, partial_tiles = '\x%x', published_size = %[1]d`, v.earlierLog.size, v.earlierLog.edge)
}
