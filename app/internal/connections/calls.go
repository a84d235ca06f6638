package connections

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

// AddCalls has the jobs run now that call about payments whose state has changed. A receipt that is sent back has no
// transaction, so its own job is made due; for the others one is added beside theirs.
func AddCalls(ctx context.Context, tx Tx, payments []rail.Payment, now time.Time, ids ports.IDs) error {
	receipts, others := map[ident.Platform][]uuid.UUID{}, map[ident.Platform][]uuid.UUID{}
	for _, p := range payments {
		if p.Kind == rail.SendBack {
			receipts[p.Platform] = append(receipts[p.Platform], p.ID)
		} else {
			others[p.Platform] = append(others[p.Platform], p.ID)
		}
	}
	for platform, subjects := range receipts {
		if err := tx.HastenJobs(ctx, platform, transaction.StepSendBack, subjects, now); err != nil {
			return err
		}
	}
	var jobs []ports.Job
	for platform, subjects := range others {
		jobs = append(jobs, ports.Job{ID: ids.New(now), Platform: platform, Step: transaction.StepCallAgain, Due: now, Subjects: subjects})
	}
	return tx.AddJobs(ctx, jobs)
}
