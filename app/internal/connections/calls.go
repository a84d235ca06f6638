package connections

import (
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

// stepCallAgain calls the rail about a payment, whatever its state is.
const stepCallAgain transaction.Step = "call-again"

// CallsAbout returns the jobs that call about payments whose state has changed, one for each platform.
func CallsAbout(payments []rail.Payment, now time.Time, ids ports.IDs) []ports.Job {
	var jobs []ports.Job
	index := map[ident.Platform]int{}
	for _, p := range payments {
		i, known := index[p.Platform]
		if !known {
			i = len(jobs)
			index[p.Platform] = i
			jobs = append(jobs, ports.Job{ID: ids.New(now), Platform: p.Platform, Step: stepCallAgain, Due: now, Subjects: []uuid.UUID{}})
		}
		jobs[i].Subjects = append(jobs[i].Subjects, p.ID)
	}
	return jobs
}
