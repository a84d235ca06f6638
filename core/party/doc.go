// Package party checks the data of persons and businesses, which are customers,
// beneficiaries or owners: names, dates, countries, addresses, e-mail addresses and phone
// numbers.
//
// A check reports every invalid field, by its path in the request. The package never decides
// who may do what.
package party
