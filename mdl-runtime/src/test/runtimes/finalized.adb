--  Exceptions through controlled objects, tasks, rendezvous.
with Ada.Command_Line, Ada.Exceptions, Ada.Finalization, Ada.Text_IO;
procedure Finalized is
   Closed : Natural := 0;
   type Guard is new Ada.Finalization.Limited_Controlled with null record;
   overriding procedure Finalize (Object : in out Guard);
   overriding procedure Finalize (Object : in out Guard) is
   begin
      Closed := Closed + 1;
   end Finalize;
   Wrong : exception;
   procedure Fall (Depth, Kind : Integer) is
      Own : Guard;
      pragma Unreferenced (Own);
   begin
      if Depth > 0 then
         Fall (Depth - 1, Kind);
         Closed := Closed + 1;
      elsif Kind mod 3 = 0 then
         raise Wrong with "wrong" & Kind'Image;
      elsif Kind mod 3 = 1 then
         raise Constraint_Error;
      end if;
   end Fall;
   task type Worker is
      entry Add (To : Integer);
      entry Sum (Of_All : out Long_Integer);
   end Worker;
   task body Worker is
      Own : Long_Integer := 0;
   begin
      loop
         select
            accept Add (To : Integer) do
               Own := Own + Long_Integer (To);
            end Add;
         or
            accept Sum (Of_All : out Long_Integer) do
               Of_All := Own;
            end Sum;
         or
            terminate;
         end select;
      end loop;
   end Worker;
   Workers : array (1 .. 4) of Worker;
   Total, Part : Long_Integer := 0;
begin
   for Round in 1 .. 100_000 loop
      begin
         Fall (Round mod 20, Round);
      exception
         when E : Wrong => Total := Total + Long_Integer (Ada.Exceptions.Exception_Message (E)'Length);
         when Constraint_Error => Total := Total + 2;
      end;
      if Round mod 40 = 0 then
         Workers (Round / 40 mod 4 + 1).Add (Round);
      end if;
   end loop;
   for W of Workers loop
      W.Sum (Part);
      Total := Total + Part;
   end loop;
   Ada.Text_IO.Put_Line ("sum" & Total'Image & Closed'Image);
   Ada.Command_Line.Set_Exit_Status (6);
end Finalized;
