package ports

import (
	"causeway/core/transaction"
)

// StepScreenCustomers screens customers that are new or whose names changed. Its subjects are their ids.
const StepScreenCustomers transaction.Step = "screen-customers"

// StepScreenPlatform screens the next customers of a run. Its subject is the run.
const StepScreenPlatform transaction.Step = "screen-platform"
