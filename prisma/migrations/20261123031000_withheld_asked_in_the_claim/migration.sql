-- Claims ask by themselves why nothing may be sent to a recipient: their plan is kept now, and a call of a function for each email took longer than the answer.
DROP FUNCTION why_withheld(uuid, text, boolean);
