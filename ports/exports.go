package ports

import "causeway/core/transaction"

// StepWriteExport writes a file of the ledger that a person has asked for. Its subject is the export.
const StepWriteExport transaction.Step = "write-export"
