package customers

import (
	"context"

	"causeway/ports"
)

const BatchSize = batchSize

func RunImportJob(ctx context.Context, i *Imports, jobs []ports.Job) error {
	return i.runJob(ctx, jobs)
}

// EraseBatch is eraseBatch.
const EraseBatch = eraseBatch
