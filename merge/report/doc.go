// Package report has what a merge returns: events while it runs, the forecast of a dry run, the report of a
// verification, and errors. Forecasts and reports are data: they marshal as JSON, and write themselves as text for
// people.
//
//	forecast.go    Forecast
//	report.go      Report, Failure, VerifyError
//	decided.go     what was decided on rows, and how long it took, in a Report
//	open.go        Open: what nobody has decided or checked
//	events.go      Event
//	errors.go      what stops a run
package report
