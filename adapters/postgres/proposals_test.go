package postgres_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/uuid"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/proposal"
)

func TestProposal_KeepsFigures(t *testing.T) {
	t.Parallel()
	// The figures of a proposal are stored as they were proposed and never change. Most proposals have none, and those of
	// other platforms do not exist.
	env := newEnv(t)
	made := func(figures string) proposal.Proposal {
		p := proposal.New(ident.NewProposal(generator.New, noon), env.platform.ID, books.ActionClose, "postExchangeResult",
			[]byte(`{"month": "2026-02"}`), platform.Author{Actor: "Ana"}, proposal.People{}, noon)
		if figures != "" {
			p.Figures = []byte(figures)
		}
		env.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateProposal(ctx, p) })
		return p
	}
	const figures = `{"run": 1,  "realised": []}`
	with, without := made(figures), made("")

	env.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		changed := with
		changed.Figures = []byte(`{}`)
		return tx.UpdateProposal(ctx, changed)
	})

	for p, want := range map[ident.Proposal]string{with.ID: figures, without.ID: ""} {
		stored, err := env.Proposal(t.Context(), env.platform.ID, p)
		if err != nil || string(stored.Figures) != want || (stored.Figures == nil) != (want == "") {
			t.Errorf("stored %q, %v; want %q", stored.Figures, err, want)
		}
	}
	if _, err := env.Proposal(t.Context(), env.otherPlatform.ID, with.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("of another platform: %v", err)
	}
}

func TestSchema_ChangesAreApprovedWithAnotherToken(t *testing.T) {
	t.Parallel()
	// The database refuses an approver with the token of the proposer, whatever the program does.
	env := newEnv(t)
	conn := pgtest.Connect(t, env.url)
	p, token := env.platform.ID.UUID(), uuid.UUID{15: 1}
	for constraint, insert := range map[string]string{
		"ledger_month_end_run_two_tokens": `INSERT INTO ledger_month_end_runs (platform_id, kind, month, run, ran_at, token_id, actor, last_seq, posting_ids, approver_token_id)
			VALUES ($1, 'revaluation', '2026-02-01', 1, now(), $2, '', 1, '{}', $2)`,
		"ledger_year_closing_two_tokens": `INSERT INTO ledger_year_closings (platform_id, year, number, last_month, closed_at, token_id, actor, note, seq, approver_token_id)
			VALUES ($1, 2025, 1, '2025-12-01', now(), $2, '', 'x', 1, $2)`,
		"ledger_year_reversal_two_tokens": `INSERT INTO ledger_year_reversals (platform_id, year, number, reversed_at, token_id, actor, note, effective_at, approver_token_id)
			VALUES ($1, 2025, 1, now(), $2, '', 'x', now(), $2)`,
		"reconciliation_resolution_two_tokens": `INSERT INTO reconciliation_resolutions (platform_id, break_id, method, note, resolved_by, resolved_at, approver_token_id)
			VALUES ($1, gen_random_uuid(), 'NOTE', 'x', 'Token:' || $2::uuid::text, now(), $2)`,
	} {
		if _, err := conn.Exec(t.Context(), insert, p, token); err == nil || !strings.Contains(err.Error(), constraint) {
			t.Errorf("%s: %v", constraint, err)
		}
	}
}
