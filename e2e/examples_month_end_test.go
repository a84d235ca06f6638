package e2e

import "time"

// recordMonthEnd posts what belongs to the end of last month, which is soft-closed: euros were bought, and a fee was
// earned in them.
func (s *exampleRecorder) recordMonthEnd() {
	s.callUnrecorded("PUT", "/ledger/settings", object{"functionalCurrency": "USD", "unrealisedResult": "KEEP", "feeRecognition": "DELIVERY",
		"yearEndMonth": int(previousMonth().Month()), "receivablesAllowance": "1,5,25,100", "fourEyes": []string{}})
	trade := func(day, euros, dollars int) object {
		return object{"note": "Traded with the liquidity provider", "effectiveAt": formatTimestamp(previousMonth().AddDate(0, 0, day)),
			"entries": []object{
				{"debit": "rails/SEPA", "credit": "fx/position", "currency": "EUR", "amount": euros}, {"debit": "fx/position", "credit": "rails/WIRE",
					"currency": "USD", "amount": dollars},
				{"debit": "rails/SEPA", "credit": "income/fees", "currency": "EUR", "amount": euros / 1000}}}
	}
	s.callUnrecorded("POST", "/ledger/adjustments", trade(3, 1_000_000, 1_080_000))
	month := previousMonth().Format("2006-01")
	s.record("postReceivablesAllowance", "", "/ledger/receivables-allowance/"+month+"/post", "").wantStatus(200)
	s.record("getReceivablesAllowance", "", "/ledger/receivables-allowance/"+month, "").wantStatus(200)
	s.record("postExchangeResult", "", "/ledger/exchange-result/"+month+"/post", "").wantStatus(200)
	s.record("getExchangeResult", "", "/ledger/exchange-result/"+month, "").wantStatus(200)
	s.record("postDeferredFees", "", "/ledger/deferred-fees/"+month+"/post", "").wantStatus(200)
	s.record("getDeferredFees", "", "/ledger/deferred-fees/"+month, "").wantStatus(200)
	s.record("getFinancialStatements", "", "/ledger/financial-statements/"+month, "").wantStatus(200)
	from := s.get("/ledger/fx-position").wantStatus(200).text("valuedAt")
	s.record("getExchangeChanges", "", "/ledger/exchange-changes?from="+from+"&to="+formatTimestamp(time.Now()), "").wantStatus(200)
	s.recordYearEnd()
}

// recordYearEnd closes the financial year that ends with last month, again after a reversal.
func (s *exampleRecorder) recordYearEnd() {
	year := "/ledger/years/" + previousMonth().Format("2006")
	s.record("closeLedgerYear", "", year+"/close", `{"note": "The accounts are complete."}`).wantStatus(200)
	s.record("reverseLedgerYear", "", year+"/reverse", `{"note": "An invoice is missing."}`).wantStatus(200)
	s.callUnrecorded("POST", year+"/close", object{"note": "The accounts are audited."})
	s.record("getLedgerYear", "", year, "").wantStatus(200)
	s.record("listLedgerYears", "", "/ledger/years", "").wantStatus(200)
}
