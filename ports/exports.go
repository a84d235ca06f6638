package ports

import "causeway/core/transaction"

// StepWriteExport writes a file of the ledger that a person has asked for. Its subject is the export.
const StepWriteExport transaction.Step = "write-export"

// StepWriteList writes a file that is a list, such as of payments. Its subject is the export. Processes of versions without such files do
// not take its jobs.
const StepWriteList transaction.Step = "write-list"

// StepWriteAuditPack writes the pack of a financial year. Its subject is the export.
const StepWriteAuditPack transaction.Step = "write-audit-pack"
