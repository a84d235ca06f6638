// Package verification decides about the check of a customer's identity (KYC of an individual, KYB
// of a business): which data and documents are missing, in which states a verification is, and what
// a decision changes.
//
// It never checks anyone: decisions come from ports.Identity and from operators. A verification goes
// on with the data that was submitted, whatever is changed meanwhile:
//
//	                 data or documents are missing
//	 POST ──────────────────────────────────────────────► RESOLVE_ERRORS ◄───────────┐
//	  │                                                      │                       │
//	  │ complete                              POST, complete │                       │ can be corrected,
//	  ▼                                                      │                       │ or data was changed
//	READY_FOR_VERIFICATION ◄─────────────────────────────────┘                       │ after it was submitted
//	  │ submitted, in the same commit                                                │
//	  ▼                                                                              │
//	IN_PROGRESS ───────────────► PENDING_MANUAL_REVIEW ──────────────────────────────┤
//	  │  ▲    a person decides    │  │  │                                            │
//	  │  └────────────────────────┘  │  │                                            │
//	  │    approved, waits for the   │  │                                            │
//	  │    owners of the business    │  │                                            │
//	  ├──────────────────────────────┼──┼────────────────────────────────────────────┘
//	  ├──────────────────────────────┘  ├──────► REJECTED (also if an owner is rejected)
//	  ▼                                 │
//	APPROVED ◄──────────────────────────┘
package verification
