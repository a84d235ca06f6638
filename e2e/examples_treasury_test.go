package e2e

import "time"

// recordTreasury reports what is held for customers, and moves money between accounts at partners.
func (s *exampleRecorder) recordTreasury(string, externalAccounts) {
	// Only the adjustment of last month was effective on that day.
	day := previousMonth().AddDate(0, 0, 1).Format(time.DateOnly)
	s.mask.replacements[day] = "2025-12-02"
	s.mask.replacements[previousMonth().AddDate(0, -11, 0).Format(time.DateOnly)] = "2025-01-01" // from which manual amounts count
	s.awaitCheckpoint()                                                                          // which the report records
	s.record("runSafeguardingReport", "", "/ledger/safeguarding/"+day+"/run", "").wantStatus(201)
	s.recordWebhook("safeguardingReport", "SAFEGUARDING.SHORTFALL", s.awaitEventAbout("SAFEGUARDING.SHORTFALL", day), "")
	s.record("acknowledgeSafeguardingReport", "", "/ledger/safeguarding/"+day+"/acknowledge",
		`{"note": "Moved 45.00 USD from own/OPERATING the same day."}`).wantStatus(200)
	s.record("getSafeguardingReport", "", "/ledger/safeguarding/"+day, "").wantStatus(200)
	s.record("listSafeguardingReports", "", "/ledger/safeguarding?status=SHORTFALL&limit=2", "").wantStatus(200)

	const accounts = "/ledger/safeguarding/accounts"
	s.record("setSafeguardingAccountPurpose", "", accounts+"/rails%2FWIRE",
		`{"purpose": "OWN", "note": "This account is pre-funded by us."}`).wantStatus(200)
	s.record("listSafeguardingAccounts", "", accounts, "").wantStatus(200)
	// No rates were kept then: values at market rates would differ between runs.
	s.record("getCurrentSafeguardingReport", "", "/ledger/safeguarding/current?at="+day+"T12:00:00Z", "").wantStatus(200)
	s.record("createSweep", "More than the excess", "/ledger/sweeps",
		`{"from": "rails/RTP", "to": "own/OPERATING", "currency": "JPY", "amount": 1}`).wantStatus(409)
	transfer := s.record("createTreasuryTransfer", "In transit", "/ledger/treasury/transfers",
		`{"from": "own/OPERATING", "to": "rails/RTP", "currency": "JPY", "amount": 500000,
		"inTransit": true, "allowOverdraft": true, "note": "Credit line of the bank"}`).wantStatus(201).text("id")
	s.recordWebhook("ledgerAsset", "LEDGER.ASSET_OVERDRAWN", s.awaitEventAbout("LEDGER.ASSET_OVERDRAWN", "own/OPERATING"), "")
	s.record("arriveTreasuryTransfer", "", "/ledger/treasury/transfers/"+transfer+"/arrive", "").wantStatus(200)
	s.record("createSweep", "", "/ledger/sweeps",
		`{"from": "rails/RTP", "to": "own/OPERATING", "currency": "JPY", "amount": 1000, "note": "Fees of October"}`).wantStatus(201)
	s.record("createTreasurySettlement", "Paid later", "/ledger/treasury/settlements",
		`{"from": "partner-payables/PROVIDER", "to": "rails/RTP", "currency": "GBP", "amount": 2600,
		"boughtCurrency": "JPY", "boughtAmount": 500000, "note": "Trade 4711"}`).wantStatus(201)
	s.record("listTreasuryMovements", "", "/ledger/treasury/movements?kind=TRANSFER", "").wantStatus(200)
	s.record("getTreasuryMovement", "", "/ledger/treasury/movements/"+transfer, "").wantStatus(200)
}
