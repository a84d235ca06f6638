package audit_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"causeway/adapters/checkpoints"
	"causeway/adapters/encryption"
	"causeway/app/audit"
	"causeway/ports"
)

// sealedEnv is an environment whose postings are sealed, with the published checkpoints.
type sealedEnv struct {
	*env
	logService *audit.Log
	published  bytes.Buffer
	// earlierLog is the state of the log before the newest ten postings were sealed.
	earlierLog struct {
		size         int64
		partialTiles []byte
	}
}

// newSealedEnv has 1,223 postings, with checkpoints at 1,208, at 1,213 and at the end.
func newSealedEnv(t *testing.T) *sealedEnv {
	t.Helper()
	e := &sealedEnv{env: newFilledEnv(t)}
	e.openLog()
	e.seal()
	bob := newInternalAccountID()
	for range 5 {
		e.mustPost(e.deposit(bob, 1000))
	}
	e.seal()
	if err := e.Store.Pool().QueryRow(t.Context(), "SELECT size, partial_tiles FROM ledger_log_state").Scan(&e.earlierLog.size,
		&e.earlierLog.partialTiles); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		e.mustPost(e.transferOut(bob, 7))
	}
	e.seal()
	return e
}

func (e *sealedEnv) openLog() {
	e.t.Helper()
	key := sha256.Sum256([]byte("master"))
	box, err := encryption.New(key[:])
	if err != nil {
		e.t.Fatal(err)
	}
	log := e.newLog()
	e.logService = audit.NewLog(audit.LogConfig{Log: log, Signer: checkpoints.NewKeyring(log, box, e.Clock, e.IDs),
		Publisher: e, Clock: e.Clock,
		Logger: e.Log, Interval: time.Minute})
}

// Publish keeps checkpoints outside of the database.
func (*sealedEnv) Newest(context.Context) ([]string, error) { return nil, nil }

func (e *sealedEnv) Publish(_ context.Context, checkpoints []ports.SignedCheckpoint) error {
	for _, c := range checkpoints {
		e.published.WriteString(c.Note + "\n")
	}
	return nil
}

func (e *sealedEnv) seal() {
	e.t.Helper()
	if err := e.logService.SealDue(e.t.Context()); err != nil {
		e.t.Fatal(err)
	}
	if err := e.logService.PublishDue(e.t.Context()); err != nil {
		e.t.Fatal(err)
	}
}

func (e *sealedEnv) publishedCheckpoints() []audit.PublishedCheckpoint {
	e.t.Helper()
	found, err := audit.ReadCheckpoints("published.checkpoints", strings.NewReader(e.published.String()))
	if err != nil {
		e.t.Fatal(err)
	}
	return found
}

func (e *sealedEnv) verify() audit.Report {
	e.t.Helper()
	report, err := e.newService(checkDelivered).Verify(e.t.Context(), audit.VerifyOptions{Published: e.publishedCheckpoints()})
	if err != nil {
		e.t.Fatal(err)
	}
	return report
}

// recomputeDigests recomputes the digests of some postings from their present content, and the
// stored balances, as an attacker could who knows the code.
func (e *sealedEnv) recomputeDigests(seqs ...int64) {
	e.t.Helper()
	statement := recomputeBalancesSQL
	err := e.newAudit().Snapshot(e.t.Context(), func(ctx context.Context, view ports.AuditView) error {
		return view.Postings(ctx, e.platform, func(a ports.AuditPosting) error {
			for _, seq := range seqs {
				if a.Seq == seq {
					statement += fmt.Sprintf(`; UPDATE ledger_postings SET digest = '\x%x' WHERE seq = %d`, a.WithEntries().Digest(), seq)
				}
			}
			return nil
		})
	})
	if err != nil {
		e.t.Fatal(err)
	}
	e.execAsSuperuser(statement)
}

const recomputeBalancesSQL = `UPDATE ledger_balances b SET balance = (
	SELECT coalesce(sum(CASE WHEN e.credit_account_id = b.account_id THEN e.amount ELSE -e.amount END), 0)
	FROM ledger_entries e WHERE b.account_id IN (e.debit_account_id, e.credit_account_id))`

// rewindLogSQL resets the log to its state before the newest ten postings.
func (e *sealedEnv) rewindLogSQL() string {
	return fmt.Sprintf(
		`DELETE FROM ledger_log_checkpoints WHERE size > %d; UPDATE ledger_log_state SET size = %[1]d, partial_tiles = '\x%x', published_size = %[1]d`, e.earlierLog.size, e.earlierLog.partialTiles)
}
